// SPDX-License-Identifier: Apache-2.0
//
// Makes rule sets of 5-tuples from the figures of real ones, in the manner of ClassBench (Taylor
// and Turner 2007, see seed_figures.h):
//
// 1. Draw an application: a protocol and the kinds of both ports.
// 2. Draw prefix lengths of both addresses together, from those of rules with such ports.
// 3. Draw the addresses by walks through two trees of prefixes (prefix_tree.h), the destination
//    following the source as far as they are correlated; and ports of the kinds that were drawn.
// 4. Draw addresses and ports again where the rule is there already, or where more prefixes would
//    lie on one path than in any of the real sets; from the third time on with a new branch in one
//    of the trees, after 24 times from step 1.
// 5. Bring the rules into an order in which narrower ones come before those that contain them.
//
// What deviates from the figures: cells of step 2 that hold few rules at all, such as those with no
// address, are used up in large sets, and others then have more than their share.
#pragma once

#include "base/result.h"
#include "bench/rules/rule_set.h"
#include "bench/rules/seed_figures.h"

namespace coua::bench {

/// Errors: invalid (number of rules), no_room (there are not so many different rules).
result<five_tuple_set> make_five_tuple_set(const seed_figures&, const rule_set_params&);

}  // namespace coua::bench
