// SPDX-License-Identifier: Apache-2.0
//
// Random operation lists on a builder and two replicas that follow it, one brought up from memory
// and one from a mapped file, checked against a map; a failing list is shrunk. RC_PARAMS="seed=...
// max_success=1000" repeats or lengthens a run.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "setsep/builder.h"
#include "setsep/replica.h"
#include "setsep/test_file.h"

namespace coua::setsep {
namespace {

enum class op_kind { put, put_many, remove, remove_many, grow, send, lose, snapshot };
struct op {
  op_kind kind;
  std::uint16_t key, value;
};
void showValue(const op& one, std::ostream& out) {
  out << "{" << static_cast<int>(one.kind) << ", " << one.key << ", " << one.value << "}";
}

struct model_case {
  const char* name;
  layout shape;
  std::size_t keys_room;
  std::uint16_t universe;
};
// One block with more keys than it separates; some with a large fallback; blocks that are split.
const model_case cases[] = {
    {"16+8", {2, 2, 1}, 4'000, 3'000},    {"8+16", {3, 1, 2}, 4'000, 3'000},
    {"16+16", {5, 2, 2}, 4'000, 2'500},   {"8+8", {1, 1, 1}, 3'000, 2'500},
    {"crowded", {2, 2, 1}, 1'000, 1'400}, {"wide", {16, 2, 1}, 2'000, 1'500},
};
void PrintTo(const model_case& c, std::ostream* out) { *out << c.name; }

rc::Gen<op> arbitrary_op() {
  using k = op_kind;
  return rc::gen::build<op>(
      rc::gen::set(&op::kind, rc::gen::weightedElement<op_kind>({{8, k::put},
                                                                 {14, k::put_many},
                                                                 {6, k::remove},
                                                                 {6, k::remove_many},
                                                                 {4, k::grow},
                                                                 {10, k::send},
                                                                 {1, k::lose},
                                                                 {2, k::snapshot}})),
      rc::gen::set(&op::key), rc::gen::set(&op::value));
}

class checked_pair {
 public:
  checked_pair(const model_case& of, std::uint64_t seed, std::uint64_t n_first)
      : case_(of),
        seed_(seed),
        to_({.keys_room = of.keys_room, .instruction_set = active_isa()}),
        mapped_({.keys_room = of.keys_room, .instruction_set = active_isa()}) {
    build_params params;
    params.shape = of.shape;
    params.keys_room = of.keys_room;
    params.instruction_set = active_isa();
    // One block, and room for more.
    std::vector<keyed_value> first;
    for (std::uint64_t key = 0; key < n_first; ++key) {
      model_[key] = static_cast<std::uint16_t>(seed >> key % 40 & 1);
      first.push_back({hash_of(key), model_[key]});
    }
    from_ = std::move(*builder::create(first, params, hash_key{}));
    most_fallback = from_->table().fallback().size();
    load();
  }

  /// Empty, or what is wrong.
  std::string apply(const op& one) {
    const std::uint16_t n =
        one.kind == op_kind::put_many || one.kind == op_kind::remove_many ? 100 : 1;
    switch (one.kind) {
      case op_kind::put:
      case op_kind::put_many:
        for (std::uint16_t i = 0; i < n; ++i) put(one.key + i, one.value + i * 7);
        break;
      case op_kind::remove:
      case op_kind::remove_many:
        for (std::uint16_t i = 0; i < n; ++i) remove(one.key + i);
        break;
      case op_kind::grow: {
        const bool room = from_->table().size().n_blocks < from_->table().n_blocks_room();
        if (from_->grow().has_value() != room) return "growth differs";
        break;
      }
      case op_kind::send: return send();
      case op_kind::lose: lost_ = lost_ || !from_->take_delta().empty(); break;
      case op_kind::snapshot:
        (void)from_->take_delta();
        load();
        return same();
    }
    return wrong_;
  }

  std::string finish() {
    if (const std::string wrong = send(); !wrong.empty()) return wrong;
    if (lost_) load();
    if (const std::string wrong = same(); !wrong.empty()) return wrong;
    std::vector<key_hash> hashes;
    for (const auto& [key, value] : model_) hashes.push_back(hash_of(key));
    std::vector<std::uint16_t> values(hashes.size());
    to_.table()->find_batch(hashes.data(), hashes.size(), values.data());
    std::size_t i = 0;
    for (const auto& [key, value] : model_) {
      if (values[i++] != value) return "the replica has another value in a batch";
      if (to_.table()->find(hash_of(key)) != value) return "the replica has another value";
      if (from_->table().find(hash_of(key)) != value) return "the builder has another value";
    }
    if (from_->n_keys() != model_.size()) return "another number of keys";
    for (unsigned other = 0; other < 500; ++other) {
      if (to_.table()->find(hash_of(100'000 + other)) >> case_.shape.value_bits != 0) {
        return "a value of too many bits";
      }
    }
    return {};
  }

  std::size_t most_fallback = 0;

 private:
  key_hash hash_of(std::uint64_t key) const {
    std::mt19937_64 random(seed_ * 1'000'003 + key);
    const std::uint64_t high = random();
    return {high, random()};
  }
  void put(unsigned number, unsigned word) {
    const std::uint64_t key = number % case_.universe;
    const auto value = static_cast<std::uint16_t>(word & ((1U << case_.shape.value_bits) - 1));
    const auto before = model_.find(key);
    const put_result want = before == model_.end()    ? put_result::added
                            : before->second == value ? put_result::unchanged
                                                      : put_result::updated;
    if (from_->put({hash_of(key), value}).value() != want) wrong_ = "put did something else";
    model_[key] = value;
    if (from_->table().find(hash_of(key)) != value) wrong_ = "a key has not the value it got";
    most_fallback = std::max<std::size_t>(most_fallback, from_->table().fallback().size());
  }
  void remove(unsigned number) {
    const std::uint64_t key = number % case_.universe;
    if (from_->remove(hash_of(key)).value() != (model_.erase(key) != 0)) {
      wrong_ = "remove did something else";
    }
  }
  std::string send() {
    const auto delta = from_->take_delta();
    if (delta.empty()) return wrong_;
    const auto outcome = to_.apply(delta);
    if (!outcome) return "a delta was refused: " + outcome.error().message();
    const auto other = mapped_.apply(delta);
    if (!other || *other != *outcome) return "the mapped replica does something else";
    if (*outcome != (lost_ ? delta_outcome::gap : delta_outcome::applied)) return "wrong outcome";
    return lost_ ? wrong_ : same();
  }
  void load() {
    std::vector<std::uint8_t> bytes(from_->snapshot_bytes());
    if (!from_->snapshot(bytes) || !to_.load(bytes)) wrong_ = "no snapshot";
    const memory_file file(bytes);
    if (!mapped_.map(file.path())) wrong_ = "the snapshot is not mapped";
    lost_ = false;
  }
  std::string same() {
    if (!wrong_.empty()) return wrong_;
    if (!std::ranges::equal(from_->table().blocks(), to_.table()->blocks())) {
      return "the blocks differ";
    }
    if (from_->table().fallback().entries() != to_.table()->fallback().entries()) {
      return "the fallbacks differ";
    }
    if (mapped_.version() != to_.version() || mapped_.table()->size() != to_.table()->size() ||
        !std::ranges::equal(mapped_.table()->blocks(), to_.table()->blocks()) ||
        mapped_.table()->fallback().entries() != to_.table()->fallback().entries()) {
      return "the mapped replica differs";
    }
    // Entries of failed groups, and no others.
    for (const keyed_value& each : to_.table()->fallback().entries()) {
      if (from_->value_of(each.hash) != each.value) return "the fallback has what is gone";
    }
    return {};
  }

  const model_case& case_;
  const std::uint64_t seed_;
  std::map<std::uint64_t, std::uint16_t> model_;
  std::unique_ptr<builder> from_;
  replica to_, mapped_;
  bool lost_ = false;
  std::string wrong_;
};

class setsep_model : public testing::TestWithParam<model_case> {};

TEST_P(setsep_model, any_operation_list_behaves_as_a_map) {
  const model_case& c = GetParam();
  std::size_t most_fallback = 0, n_lists = 0;
  EXPECT_TRUE(rc::check(c.name, [&](std::uint64_t seed) {
    const auto ops = *rc::gen::scale(0.7, rc::gen::container<std::vector<op>>(arbitrary_op()));
    // Nearly empty, and full: of 8+16, some groups of a full block fail.
    checked_pair pair(c, seed, *rc::gen::element(1U, 500U, 1'000U));
    for (const op& one : ops) {
      if (const std::string wrong = pair.apply(one); !wrong.empty()) RC_FAIL(wrong);
    }
    if (const std::string wrong = pair.finish(); !wrong.empty()) RC_FAIL(wrong);
    most_fallback = std::max(most_fallback, pair.most_fallback);
    ++n_lists;
  }));
  // A test without a fallback would not test its changes; the first lists are short.
  if (c.shape.index_bytes == 1 && n_lists >= 100) {
    EXPECT_GT(most_fallback, 8U);
  }
}

// What random lists meet by chance only: a full block of 8+16, some of whose groups fail.
TEST(setsep_fallback, of_a_full_block_changes_with_its_keys) {
  using k = op_kind;
  const model_case c{"full 8+16", {3, 1, 2}, 4'000, 3'000};
  checked_pair pair(c, 1, 1'000);
  for (std::uint16_t from = 0; from < 1'000; from += 100) {
    ASSERT_EQ(pair.apply({k::put_many, from, from}), "");
  }
  for (std::uint16_t turn = 0; turn < 8; ++turn) {
    const auto from = static_cast<std::uint16_t>(turn * 130);
    const op ops[] = {{k::send, 0, 0},
                      {k::put_many, from, turn},
                      {k::send, 0, 0},
                      {k::put_many, 1'000, turn},
                      {k::snapshot, 0, 0},
                      {k::remove_many, 1'000, turn},
                      {turn == 4 ? k::grow : k::put, from, 1}};
    for (const op& one : ops) ASSERT_EQ(pair.apply(one), "") << "turn " << turn;
  }
  EXPECT_EQ(pair.finish(), "");
  EXPECT_GT(pair.most_fallback, 30U);
}

INSTANTIATE_TEST_SUITE_P(layouts, setsep_model, testing::ValuesIn(cases), [](const auto& c) {
  std::string name = c.param.name;
  std::replace(name.begin(), name.end(), '+', '_');
  return name;
});

}  // namespace
}  // namespace coua::setsep
