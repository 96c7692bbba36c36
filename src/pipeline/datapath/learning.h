// SPDX-License-Identifier: Apache-2.0
//
// What a worker takes of a packet for a rule that the packet leaves behind (model/learn.h), on its
// way to the owner of the model, which makes the rule of it.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "pipeline/model/learn.h"

namespace coua::pipeline {

/// An act::learn that some rule has: what its op points to. `id` is never given to another one:
/// what a worker says of one that is gone leads to nothing.
struct learning {
  std::uint64_t id = 0;
  std::vector<field_bits> takes;  // at most learned_values_max
  std::uint16_t in_match = 0;     // bits of those that the match of the rule is made of
  act::learn how;
};

struct learned_values {
  std::uint64_t id = 0;
  std::uint16_t n = 0;
  std::uint16_t in_match = 0;                       // as of the learning
  std::array<value128, learned_values_max> values;  // the first n
};

}  // namespace coua::pipeline
