// SPDX-License-Identifier: Apache-2.0
//
// A handful of rules, all of which a packet is compared with at once: the first that matches
// counts. A change makes another one of these; only the heads of the rules' records are replaced in
// place.
//
//   row   what a rule asks of the words of a key (simd/direct_match); a rule may have two
//         (key_layout.h)
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "pipeline/datapath/action_record.h"
#include "pipeline/datapath/key_layout.h"
#include "pipeline/datapath/rule_rank.h"
#include "simd/direct_match/kernels.h"

namespace coua::pipeline {

struct direct_table {
  static constexpr unsigned rows_max = simd::direct_rules::max_rules;

  key_layout layout;
  std::vector<std::uint64_t> values, masks;
  simd::direct_rules rows{};  // of them; no words: every rule matches every packet
  unsigned n_rules = 0;       // 1 to rows_max
  unsigned n_rows = 0;        // 1 to rows_max, without those that fill up `rows`
  std::uint8_t rule_of[rows_max] = {};
  std::unique_ptr<std::atomic<record_id>[]> heads;  // by rule, the highest priority first
  std::vector<rule_rank> ranks;                     // by rule
  bool is_of_port = false;  // no rule asks for more than the port that a packet came by
};

}  // namespace coua::pipeline
