// SPDX-License-Identifier: Apache-2.0
#include "pipeline/datapath/merge_sets.h"

#include <algorithm>
#include <new>

namespace coua::pipeline {
namespace {

/// Where a kind of op stands in the order of execution, as model/action_set.cc has it.
unsigned place(const op& one) {
  switch (one.code) {
    case op_code::copy_ttl_in: return 0;
    case op_code::pop_vlan: return 1;
    case op_code::pop_mpls: return 2;
    case op_code::push_mpls: return 3;
    case op_code::push_vlan: return 4;
    case op_code::copy_ttl_out: return 5;
    case op_code::dec_mpls_ttl:
    case op_code::dec_ip_ttl: return 6;
    case op_code::set_queue: return 8;
    case op_code::learn:     // in no set
    case op_code::resubmit:  // in no set that is merged
    case op_code::group: return 9;
    case op_code::output:
    case op_code::in_port:
    case op_code::normal:
    case op_code::all:
    case op_code::flood:
    case op_code::controller:
    case op_code::output_bits: return 10;
    default: return 7;  // set
  }
}

bool is_output(const op& one) { return place(one) == 10; }
bool same_kind(const op& a, const op& b) {
  if (is_output(a)) return is_output(b);
  if (sets_field(a.code)) return sets_field(b.code) && a.which == b.which;
  return a.code == b.code;
}

wide_value written_by(const op& one) {
  if (one.code == op_code::set_bits) return *one.wide;
  return {one.value, full_mask(static_cast<field>(one.which))};
}

/// Both, when `next` is written after `was`, which is of its kind.
void join(op& was, const op& next, merge_room& room) {
  if (next.code != op_code::set_bits || was.code == op_code::move || !sets_field(was.code)) {
    was = next;
    return;
  }
  const wide_value first = written_by(was), then = *next.wide;
  was = next;
  was.wide = new (room.wide[next.which])
      wide_value{(first.value & ~then.mask) | then.value, first.mask | then.mask};
}

}  // namespace

op_list merge_sets(std::span<const action_set_ops* const> written, merge_room& room) noexcept {
  op* const ops = room.ops;
  if (written.size() == 1) return written[0]->ordered;
  op_list made{ops, 0, false};
  for (const action_set_ops* each : written) {
    for (const op* one = each->written.ops; one != each->written.ops + each->written.n; ++one) {
      op* const at =
          std::find_if(ops, ops + made.n, [&](const op& other) { return same_kind(*one, other); });
      if (at == ops + made.n) {
        ops[made.n++] = *one;
      } else {
        join(*at, *one, room);
      }
    }
  }
  // Stable, and they are few.
  for (unsigned i = 1; i < made.n; ++i) {
    const op one = ops[i];
    unsigned to = i;
    for (; to > 0 && place(ops[to - 1]) > place(one); --to) ops[to] = ops[to - 1];
    ops[to] = one;
  }
  // A group hides an output, which stands behind it.
  for (unsigned i = 0; i + 1 < made.n; ++i) {
    if (ops[i].code == op_code::group) made.n = i + 1;
  }
  for (unsigned i = 0; i < made.n; ++i) made.changes_frames |= changes_frame(ops[i]);
  return made;
}

}  // namespace coua::pipeline
