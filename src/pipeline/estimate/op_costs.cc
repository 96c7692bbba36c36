// SPDX-License-Identifier: Apache-2.0
#include "pipeline/estimate/op_costs.h"

#include <algorithm>

#include "pipeline/compiler/compile_actions.h"

namespace coua::pipeline {
namespace {

double& count_of(op_costs::counts& all, atom which) { return all[static_cast<std::size_t>(which)]; }

atom atom_of(field written) {
  switch (written) {
    case field::eth_dst:
    case field::eth_src: return atom::set_mac;
    case field::ipv4_src:
    case field::ipv4_dst: return atom::set_ip;
    default: return atom::set_field;
  }
}

}  // namespace

op_costs::counts op_costs::of(const instructions& what) {
  counts made{};
  double n_sent = 0;
  if (what.meter) ++count_of(made, atom::meter);
  if (what.apply) add_applied(made, *what.apply, n_sent);
  if (what.clear_actions) ++count_of(made, atom::note);
  if (what.write) {
    ++count_of(made, atom::write_set);
    add(made, *what.write, n_sent);
  }
  if (what.metadata) ++count_of(made, atom::note);
  return made;
}

void op_costs::add_outputs(counts& to, double n, double& n_sent) const {
  count_of(to, atom::output) += n;
  // The first one needs no copy.
  count_of(to, atom::copy) += std::max(n_sent + n - 1, 0.0) - std::max(n_sent - 1, 0.0);
  n_sent += n;
}

void op_costs::add_applied(counts& to, const action_list& list, double& n_sent) {
  action_list left;
  for (std::size_t i = 0; i < list.size(); ++i) {
    left.push_back(list[i]);
    if (i + 1 < list.size() && both_macs(list[i], list[i + 1])) ++i;  // they are one op
  }
  add(to, left, n_sent);
}

void op_costs::add(counts& to, const action_list& list, double& n_sent) {
  const auto one = [&](atom which) { ++count_of(to, which); };
  const double n_others = std::max<double>(static_cast<double>(in_.ports().size()) - 1, 0);
  for (const action& each : list) {
    std::visit(overloaded{
                   [&](const act::output& a) {
                     const bool is_many = a.port == port_all || a.port == port_flood;
                     add_outputs(to, is_many ? n_others : 1, n_sent);
                   },
                   [&](const act::output_bits&) { add_outputs(to, 1, n_sent); },
                   [&](const act::group& a) { add_group(to, a.id, n_sent); },
                   [&](const act::set_queue&) { one(atom::note); }, [&](const act::conjunction&) {},
                   [&](const act::resubmit&) { one(atom::note); },  // and the visit
                   [&](const act::learn& a) {  // of a packet that was here a moment ago
                     count_of(to, atom::set_field) += static_cast<double>(a.parts.size());
                   },
                   [&](const act::push_vlan&) { one(atom::push); },
                   [&](const act::push_mpls&) { one(atom::push); },
                   [&](const act::pop_vlan&) { one(atom::pop); },
                   [&](const act::pop_mpls&) { one(atom::pop); },
                   [&](const act::set_field& a) {
                     const bool is_whole = a.mask == full_mask(a.which);
                     one(is_whole ? atom_of(a.which) : atom::set_field);
                   },
                   [&](const act::dec_ip_ttl&) { one(atom::decrement); },
                   [&](const act::dec_mpls_ttl&) { one(atom::decrement); },
                   [&](const auto&) { one(atom::set_field); },  // other writes to TTLs
               },
               each);
  }
}

void op_costs::add_group(counts& to, group_id id, double& n_sent) {
  auto known = groups_.find(id);
  if (known == groups_.end()) {
    counts made{};
    const group_entry* of = in_.find_group(id);
    ++count_of(made, atom::group);
    if (of != nullptr && !of->group->buckets.empty()) {
      const std::vector<bucket>& buckets = of->group->buckets;
      const bool is_each = of->group->type == group_type::all;
      counts sum{};
      double n_copies = 0;
      for (const bucket& each : buckets) {
        if (!is_each) n_copies = 0;
        add(sum, each.actions, n_copies);
      }
      const double share = is_each ? 1 : 1 / static_cast<double>(buckets.size());
      for (std::size_t i = 0; i < n_atoms; ++i) made[i] += sum[i] * share;
    }
    known = groups_.emplace(id, made).first;
  }
  for (std::size_t i = 0; i < n_atoms; ++i) to[i] += known->second[i];
  const double n = known->second[static_cast<std::size_t>(atom::output)];
  count_of(to, atom::copy) += n_sent > 0 ? n : 0;
  n_sent += n;
}

}  // namespace coua::pipeline
