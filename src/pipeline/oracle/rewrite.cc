// SPDX-License-Identifier: Apache-2.0
#include "pipeline/oracle/rewrite.h"

#include "pipeline/oracle/checksums.h"
#include "pipeline/oracle/parse.h"
#include "pipeline/oracle/tags.h"

namespace coua::pipeline {
namespace {

rewrite_result decrement(packet& one, field which) {
  const parsed headers = parse(one);
  if (!headers.has(which)) return rewrite_result::no_header;
  const value128 ttl = headers.get(which);
  if (ttl <= 1) return rewrite_result::invalid_ttl;
  return write_field(one, which, ttl - 1, full_mask(which));
}

rewrite_result move_bits(packet& one, const act::move& what) {
  const parsed headers = parse(one);
  if (!headers.has(what.from.which)) return rewrite_result::no_header;
  const value128 bits = headers.get(what.from.which) >> what.from.first & ones(what.from.n_bits);
  return write_field(one, what.to.which, bits << what.to.first, mask_of(what.to));
}

rewrite_result done_or_not(bool done) {
  return done ? rewrite_result::done : rewrite_result::no_header;
}

}  // namespace

rewrite_result write_field(packet& one, field which, value128 value, value128 mask) {
  if (is_reg(which)) {
    std::uint32_t& to = one.reg[index_of(which) - index_of(field::reg0)];
    to = static_cast<std::uint32_t>((to & ~mask) | (value & mask));
    return rewrite_result::done;
  }
  if (which == field::metadata) {
    one.metadata = static_cast<std::uint64_t>((one.metadata & ~mask) | (value & mask));
    return rewrite_result::done;
  }
  if (which == field::tunnel_id) {
    one.tunnel_id = static_cast<std::uint64_t>((one.tunnel_id & ~mask) | (value & mask));
    return rewrite_result::done;
  }
  const parsed headers = parse(one);
  const bits_at& at = headers.at[index_of(which)];
  if (at.n_bytes == 0) return rewrite_result::no_header;
  const packet before = one;
  write_bits(one, at, (read_bits(one, at) & ~mask) | (value & mask));
  update_checksums(one, before, headers, checksums_of(headers, which));
  return rewrite_result::done;
}

std::optional<rewrite_result> rewrite(packet& one, const action& how) {
  using answer = std::optional<rewrite_result>;
  return std::visit(
      overloaded{
          [](const act::output&) -> answer { return std::nullopt; },
          [](const act::group&) -> answer { return std::nullopt; },
          [](const act::set_queue&) -> answer { return std::nullopt; },
          [&](const act::push_vlan& a) -> answer {
            return done_or_not(push_vlan(one, a.ethertype));
          },
          [&](const act::pop_vlan&) -> answer { return done_or_not(pop_vlan(one)); },
          [&](const act::push_mpls& a) -> answer {
            return done_or_not(push_mpls(one, a.ethertype));
          },
          [&](const act::pop_mpls& a) -> answer { return done_or_not(pop_mpls(one, a.ethertype)); },
          [&](const act::set_field& a) -> answer {
            return write_field(one, a.which, a.value, a.mask);
          },
          [&](const act::set_ip_ttl& a) -> answer {
            return write_field(one, field::ip_ttl, a.ttl, full_mask(field::ip_ttl));
          },
          [&](const act::dec_ip_ttl&) -> answer { return decrement(one, field::ip_ttl); },
          [&](const act::set_mpls_ttl& a) -> answer {
            return write_field(one, field::mpls_ttl, a.ttl, full_mask(field::mpls_ttl));
          },
          [&](const act::dec_mpls_ttl&) -> answer { return decrement(one, field::mpls_ttl); },
          [&](const act::copy_ttl_out&) -> answer { return done_or_not(copy_ttl_out(one)); },
          [&](const act::copy_ttl_in&) -> answer { return done_or_not(copy_ttl_in(one)); },
          [&](const act::move& a) -> answer { return move_bits(one, a); },
          [](const act::output_bits&) -> answer { return std::nullopt; },
          [](const act::resubmit&) -> answer { return std::nullopt; },
          [](const act::conjunction&) -> answer { return std::nullopt; },
          [](const act::learn&) -> answer { return std::nullopt; },
      },
      how);
}

}  // namespace coua::pipeline
