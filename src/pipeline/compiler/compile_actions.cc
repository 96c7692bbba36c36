// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compiler/compile_actions.h"

#include <algorithm>

#include "pipeline/datapath/fused_ops.h"
#include "pipeline/model/action_set.h"

namespace coua::pipeline {
namespace {

op make(op_code code, std::uint16_t small = 0, std::uint64_t value = 0) {
  op made;
  made.code = code;
  made.small = small;
  made.value = value;
  return made;
}

op wide(stored_ops& in, op_code code, value128 value, value128 mask) {
  in.wide.push_back({value & mask, mask});
  op made;
  made.code = code;
  made.wide = &in.wide.back();
  return made;
}

op compile_output(const act::output& to, packet_in_reason reason, std::uint64_t cookie) {
  const op_code code = output_code(to.port);
  if (code == op_code::controller) {
    op made = make(code, 0, cookie);
    made.which = static_cast<std::uint8_t>(reason);
    return made;
  }
  op made = make(code);
  if (code == op_code::output) made.number = to.port;
  return made;
}

op compile_output_bits(const act::output_bits& to, packet_in_reason reason, std::uint64_t cookie) {
  op made = compile_output({port_controller}, reason, cookie);
  made.code = op_code::output_bits;
  made.number = from_bits(to.from);
  return made;
}

op compile_resubmit(const act::resubmit& what) {
  op made = make(op_code::resubmit);
  made.which = what.table.value_or(no_table);
  made.number = what.in_port;
  return made;
}

op compile_conjunction(const act::conjunction& what) {
  op made = make(op_code::conjunction, what.n_clauses);
  made.which = what.clause;
  made.number = what.id;
  return made;
}

op compile_move(const act::move& what) {
  op made = make(op_code::move);
  made.which = static_cast<std::uint8_t>(what.to.which);
  made.number = from_bits(what.from) | std::uint32_t{what.to.first} << 24;
  return made;
}

op compile_set_field(stored_ops& in, const act::set_field& to) {
  const bool whole = to.mask == full_mask(to.which) && info(to.which).n_bits <= 64;
  op made = whole ? make(op_code::set, 0, static_cast<std::uint64_t>(to.value))
                  : wide(in, op_code::set_bits, to.value, to.mask);
  made.which = static_cast<std::uint8_t>(to.which);
  return made;
}

/// Of both addresses; nothing of any other action.
const act::set_field* as_set_mac(const action& one) {
  const auto* set = std::get_if<act::set_field>(&one);
  const bool is_mac =
      set != nullptr && (set->which == field::eth_dst || set->which == field::eth_src);
  return is_mac && set->mask == full_mask(set->which) ? set : nullptr;
}

op compile_macs(const net::mac_pair& macs) {
  op made = make(op_code::set_macs, 0, macs.rest);
  made.number = macs.first;
  return made;
}

/// The groups and meters to which they point.
void add_things(const op_list& ops, std::vector<const void*>& to) {
  for (const op* one = ops.ops; one != ops.ops + ops.n; ++one) {
    if (one->code == op_code::group) to.push_back(one->group);
    if (one->code == op_code::meter) to.push_back(one->meter);
    if (one->code == op_code::write_set) add_things(one->set->written, to);
  }
}

}  // namespace

std::optional<net::mac_pair> both_macs(const action& one, const action& next) {
  const act::set_field *to = as_set_mac(one), *from = as_set_mac(next);
  if (to == nullptr || from == nullptr || to->which == from->which) return std::nullopt;
  if (to->which == field::eth_src) std::swap(to, from);
  return net::mac_pair::of(static_cast<std::uint64_t>(to->value),
                           static_cast<std::uint64_t>(from->value));
}

op_list stored_ops::list() const {
  return {ops.data(), static_cast<std::uint32_t>(ops.size()),
          std::any_of(ops.begin(), ops.end(), changes_frame)};
}

op action_compiler::compile(stored_ops& in, const action& one, packet_in_reason reason,
                            std::uint64_t cookie) const {
  return std::visit(
      overloaded{
          [&](const act::output& a) { return compile_output(a, reason, cookie); },
          [&](const act::group& a) {
            op made = make(op_code::group);
            made.group = references_.group(a.id);
            return made;
          },
          [](const act::set_queue& a) {
            op made = make(op_code::set_queue);
            made.number = a.queue;
            return made;
          },
          [](const act::push_vlan& a) { return make(op_code::push_vlan, a.ethertype); },
          [](const act::pop_vlan&) { return make(op_code::pop_vlan); },
          [](const act::push_mpls& a) { return make(op_code::push_mpls, a.ethertype); },
          [](const act::pop_mpls& a) { return make(op_code::pop_mpls, a.ethertype); },
          [&](const act::set_field& a) { return compile_set_field(in, a); },
          [](const act::set_ip_ttl& a) { return make(op_code::set_ip_ttl, a.ttl); },
          [&](const act::dec_ip_ttl&) { return make(op_code::dec_ip_ttl, 0, cookie); },
          [](const act::set_mpls_ttl& a) { return make(op_code::set_mpls_ttl, a.ttl); },
          [&](const act::dec_mpls_ttl&) { return make(op_code::dec_mpls_ttl, 0, cookie); },
          [](const act::copy_ttl_out&) { return make(op_code::copy_ttl_out); },
          [](const act::copy_ttl_in&) { return make(op_code::copy_ttl_in); },
          [](const act::move& a) { return compile_move(a); },
          [](const act::resubmit& a) { return compile_resubmit(a); },
          [](const act::conjunction& a) { return compile_conjunction(a); },
          [&](const act::learn& a) {
            in.learnings.push_back(make_learning(a));
            op made = make(op_code::learn);
            made.learning = in.learnings.back().get();
            return made;
          },
          [&](const act::output_bits& a) { return compile_output_bits(a, reason, cookie); },
      },
      one);
}

void action_compiler::add(stored_ops& to, const action_list& list, packet_in_reason reason,
                          std::uint64_t cookie) const {
  for (const action& one : list) to.ops.push_back(compile(to, one, reason, cookie));
}

void action_compiler::add_applied(stored_ops& to, const action_list& list, packet_in_reason reason,
                                  std::uint64_t cookie) const {
  to.ops.reserve(to.ops.size() + list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto macs = i + 1 < list.size() ? both_macs(list[i], list[i + 1]) : std::nullopt;
    to.ops.push_back(macs ? compile_macs(*macs) : compile(to, list[i], reason, cookie));
    if (macs) ++i;
  }
}

stored_ops action_compiler::compile_list(const action_list& list, packet_in_reason reason,
                                         std::uint64_t cookie) const {
  stored_ops made;
  add(made, list, reason, cookie);
  return made;
}

stored_ops action_compiler::compile_set(const action_list& list) const {
  return compile_list(action_set(list).ordered(), packet_in_reason::action, no_cookie);
}

stored_ops action_compiler::compile(const instructions& what, packet_in_reason reason,
                                    std::uint64_t cookie) const {
  stored_ops made;
  if (what.meter) {
    op one = make(op_code::meter);
    one.meter = references_.meter(*what.meter);
    made.ops.push_back(one);
  }
  if (what.apply) add_applied(made, *what.apply, reason, cookie);
  if (what.clear_actions) made.ops.push_back(make(op_code::clear_set));
  if (what.write) {
    made.lists.push_back(compile_list(*what.write, packet_in_reason::action, no_cookie));
    const op_list written = made.lists.back().list();
    made.lists.push_back(compile_set(*what.write));
    made.sets.push_back({written, made.lists.back().list()});
    op one = make(op_code::write_set);
    one.set = &made.sets.back();
    made.ops.push_back(one);
  }
  if (what.metadata) {
    made.ops.push_back(
        what.metadata->mask == ~std::uint64_t{0}
            ? make(op_code::metadata, 0, what.metadata->value)
            : wide(made, op_code::metadata_bits, what.metadata->value, what.metadata->mask));
  }
  return made;
}

std::shared_ptr<const learning> action_compiler::make_learning(const act::learn& how) const {
  auto made = std::make_unique<learning>();
  made->id = ++last_learning_;
  made->how = how;
  for (const act::learn::part& each : how.parts) {
    if (!each.from) continue;
    if (each.what == act::learn::part::role::match) {
      made->in_match |= static_cast<std::uint16_t>(1U << made->takes.size());
    }
    made->takes.push_back(*each.from);
  }
  std::shared_ptr<const learning> shared(made.release(), [this](const learning* gone) {
    learnings_.erase(gone->id);
    delete gone;
  });
  learnings_[shared->id] = shared;
  return shared;
}

std::shared_ptr<const learning> action_compiler::find_learning(std::uint64_t id) const {
  const auto at = learnings_.find(id);
  return at == learnings_.end() ? nullptr : at->second.lock();
}

/// Equal lists have one text; others may, too.
std::size_t action_compiler::text_hash::operator()(const list_key& key) const {
  return std::hash<std::string>()(to_string(key.instructions)) ^
         std::hash<std::uint64_t>()(key.cookie.value_or(0));
}

const action_shape* action_compiler::intern(action_shape shape) {
  auto at = shapes_.find(shape);
  if (at == shapes_.end()) {
    fuse(shape.steps);
    at = shapes_.try_emplace(std::move(shape)).first;
  }
  ++at->second;
  return &at->first;
}

void action_compiler::release(const action_shape* shape) {
  const auto at = shapes_.find(*shape);
  if (--at->second == 0) shapes_.erase(at);
}

compiled_rule action_compiler::compile(const rule& one) {
  const auto reason = one.is_miss() ? packet_in_reason::no_match : packet_in_reason::action;
  stored_ops ops = compile(one.instructions, reason, one.cookie);
  action_shape shape;
  shape.ops_apart = ops.ops.size() > action_record::n_inline || !ops.wide.empty() ||
                    !ops.sets.empty() || !ops.learnings.empty();
  shape.goes_on = one.instructions.goto_table.has_value();
  bool says_cookie = false;
  shape.steps.reserve(ops.ops.size());
  for (const op& each : ops.ops) {
    shape.steps.push_back({each.code, sets_field(each.code) ? each.which : std::uint8_t{0}});
    shape.resubmits |= each.code == op_code::resubmit;
    says_cookie |= each.code == op_code::controller || each.code == op_code::output_bits ||
                   each.code == op_code::dec_ip_ttl || each.code == op_code::dec_mpls_ttl;
  }
  compiled_rule made;
  made.next_table = one.instructions.goto_table.value_or(no_table);
  made.shape = intern(std::move(shape));
  if (!made.shape->ops_apart) {
    made.own = std::move(ops.ops);
    return made;
  }
  list_key key{one.instructions, {}, false, {}};
  add_things(ops.list(), key.things);
  if (says_cookie) {
    key.cookie = one.cookie;
    key.is_miss = one.is_miss();
  }
  auto& [same, there] = *shared_.try_emplace(std::move(key)).first;
  made.shared = there.lock();
  if (made.shared == nullptr) {
    // What it points to goes with the last rule that has it.
    made.shared = {new stored_ops(std::move(ops)), [this, key = &same](const stored_ops* gone) {
                     const auto at = shared_.find(*key);
                     if (at != shared_.end() && at->second.expired()) shared_.erase(at);
                     delete gone;
                   }};
    there = made.shared;
  }
  return made;
}

}  // namespace coua::pipeline
