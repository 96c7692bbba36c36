// SPDX-License-Identifier: Apache-2.0
//
// What a filled table looks like inside, without a clock: the figures of Cuckoo++ that explain the
// speed.
#pragma once

#include "bench/flow/flow_options.h"
#include "bench/harness/crew.h"
#include "bench/harness/report.h"

namespace coua::bench {

/// Figure 2: the share of entries that are in their secondary bucket, by load and slots of a
/// bucket; up to the load at which the first insert fails. Rows `VARIANT/secondary`.
result<void> add_secondary_shares(const flow_options&, crew&, std::uint64_t capacity, report&);

/// Figure 5: how many buckets have how many entries elsewhere. Rows `VARIANT/moved`.
result<void> add_moved_counts(const flow_options&, crew&, std::uint64_t capacity, report&);

/// Table 2: the share of misses that look into a secondary bucket for nothing. Rows
/// `VARIANT/false-positives`.
result<void> add_false_positives(const flow_options&, crew&, std::uint64_t capacity, report&);

}  // namespace coua::bench
