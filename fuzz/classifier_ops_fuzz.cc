// SPDX-License-Identifier: Apache-2.0
//
// Operation lists on small classifiers against a linear list of rules, as the model tests run them,
// led by coverage.
//
//   byte 0  width, distributor   byte 1  budget of proofs, limits, priorities, pruning
//   then 7 bytes per operation: kind, count, priority; 32 bits: 15 of the mask, 15 of the key
#include <cstdio>
#include <iterator>

#include "checked_classifier.h"
#include "fuzz.h"

namespace {

using coua::test::classifier_op;
using coua::test::classifier_op_kind;
using coua::test::classifier_shape;

// More make an input slow: what a look-up or an update costs beside a linear list grows with the
// rules. They are enough for rules of more than four rivals and for tables that grow.
constexpr int max_ops = 64;
constexpr unsigned max_count = 70;
// 16 twice: it is the width that most programs have.
constexpr std::uint32_t widths[] = {1, 2, 8, 13, 16, 16, 40, 128};
constexpr std::uint32_t budgets[] = {0, 0, 1, 40};
constexpr std::uint32_t limits[] = {0, 0, 0, 9};
using kind = classifier_op_kind;
// An input of any bytes fills a classifier more than it empties it.
constexpr kind kinds[] = {
    kind::add,         kind::add,     kind::add,        kind::add,     kind::add,     kind::add,
    kind::remove,      kind::remove,  kind::remove,     kind::look_up, kind::look_up, kind::look_up,
    kind::look_up_one, kind::reclaim, kind::new_reader, kind::get,
};
constexpr std::uint32_t priorities[] = {1, 6, 40, 256};

/// Three bits for each place of a key, the lowest two and the highest.
coua::test::byte_string places(std::uint32_t bits, std::uint32_t key_bytes) {
  coua::test::few_bytes few;
  for (std::uint8_t& byte : few) {
    byte = static_cast<std::uint8_t>((bits & 3) | (bits >> 2 & 1) << 7);
    bits >>= 3;
  }
  return coua::test::spread(few, key_bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  coua::fuzz::input in(data, size);
  const unsigned pick = in.take<std::uint8_t>(), limit = in.take<std::uint8_t>();
  classifier_shape shape{};
  shape.name = "fuzzed";
  shape.key_bytes = widths[pick & 7];
  shape.distributor = static_cast<coua_classifier_distributor>((pick >> 3) % 3);
  shape.proof_budget = budgets[limit & 3];
  shape.rules_max = limits[limit >> 2 & 3];
  shape.pruned = (limit >> 6 & 1) == 0;
  shape.masks_max = (limit >> 7 & 1) == 0 ? 0 : 3;
  const std::uint32_t n_priorities = priorities[limit >> 4 & 3];
  coua::test::checked_classifier checked(shape);
  for (std::uint32_t n = 0; !in.empty() && n < max_ops; ++n) {
    classifier_op op{};
    const auto which = in.take<std::uint8_t>();
    op.kind = which == 0xff ? kind::invalid : kinds[which % std::size(kinds)];
    op.n = in.take<std::uint8_t>() % max_count;
    op.subject.priority = in.take<std::uint8_t>() % n_priorities;
    if (op.subject.priority == 5) op.subject.priority = ~0u;
    const auto bits = in.take<std::uint32_t>();
    op.subject.mask = places(bits, shape.key_bytes);
    op.subject.key = places(bits >> 15 & bits, shape.key_bytes);
    op.subject.value = n;  // tells one rule from another
    if (!checked.apply(op) || !checked.look_up(op.n % 16)) break;
  }
  checked.finish();
  if (!checked.failure().empty()) std::fprintf(stderr, "%s\n", checked.failure().c_str());
  COUA_CHECK(checked.failure().empty());
  return 0;
}
