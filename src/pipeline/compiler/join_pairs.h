// SPDX-License-Identifier: Apache-2.0
//
// Which rules of the first table, and which of those that they lead to, are one look-up
// (datapath/joined_tables.h): a pair for each packet key of which both are known from the packet as
// it came.
//
//   first    of table 0: applies plain actions, if any, but pushes no tag, and goes on to another
//            table
//   then     a rule there whose match no action of `first` changes
//   match    what both ask for; no rule that stands above either of them takes such a packet
//
// Plain: they set fields, push or pop a tag, or output to a port. What may say a table to somebody
// (packet-ins, also of a TTL), come back (resubmit) or count besides (groups, meters) is not
// joined.
#pragma once

#include <functional>
#include <vector>

#include "pipeline/model/bridge.h"

namespace coua::pipeline {

struct joined_pair {
  const rule* first;
  const rule* then;
  class match match;
};

struct join_limits {
  static constexpr std::size_t first_max = 256;   // rules of the first table
  static constexpr std::size_t pairs_max = 4096;  // some 2 us each, of the owner's time
  // Some 20 ns each: a look at two rules. What must be sorted, or made, counts as several.
  static constexpr std::size_t tries_max = 128 * pairs_max, tries_of_rule = 16;
  static constexpr std::size_t above_max = 16;  // rules that may be above one, or are unlike most
};

/// The first table has not too many rules.
bool may_be_joined(const bridge& of);
/// Of those that take the same bits of the same headers the most. `is_exact(table)`: it is served
/// so. Of first rules for which there is no room left there is none. Empty: nothing is joined.
std::vector<joined_pair> pairs_to_join(const bridge& of,
                                       const std::function<bool(table_id)>& is_exact);

/// What both do: one after the other.
instructions join(const instructions& first, const instructions& then);

}  // namespace coua::pipeline
