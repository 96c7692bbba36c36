// SPDX-License-Identifier: Apache-2.0
#include "setsep/replica.h"

#include <algorithm>

#include "setsep/bulk_build.h"
#include "setsep/snapshot_file.h"

namespace coua::setsep {

replica::~replica() = default;

result<table_version> replica::load(std::span<const std::uint8_t> snapshot) {
  const auto facts = check_snapshot(snapshot);
  if (!facts) return tl::unexpected(facts.error());
  if (auto good = check(*facts); !good) return tl::unexpected(std::move(good.error()));
  auto made = read_snapshot(snapshot, *facts, params_of_table());
  if (!made) return tl::unexpected(std::move(made.error()));
  show(std::move(*made), *facts);
  return version_;
}

result<table_version> replica::map(const std::string& path) {
  auto mapped = mapped_snapshot::open(path, params_of_table().n_blocks_room);
  if (!mapped) return tl::unexpected(std::move(mapped.error()));
  const snapshot_facts facts = mapped->facts();
  if (auto good = check(facts); !good) return tl::unexpected(std::move(good.error()));
  auto made = std::move(*mapped).make_table(params_of_table());
  if (!made) return tl::unexpected(std::move(made.error()));
  show(std::move(*made), facts);
  return version_;
}

result<void> replica::check(const snapshot_facts& facts) const {
  if (key_ && (*key_ != facts.key || key_bytes_ != facts.key_bytes)) {
    return fail(errc::invalid, "snapshot", "hashes keys in another way than the table");
  }
  if (table_ != nullptr && facts.version.table == version_.table &&
      facts.version.sequence < version_.sequence) {
    return fail(errc::invalid, "snapshot", "is older than the table");
  }
  return {};
}

table_params replica::params_of_table() {
  const std::uint64_t room = std::min<std::uint64_t>(blocks_for(params_.keys_room), n_blocks_max);
  return {.shape = {},
          .size = {},
          .n_blocks_room = static_cast<std::uint32_t>(room),
          .instruction_set = params_.instruction_set,
          .memory = params_.memory,
          .retired = &retired_};
}

void replica::show(std::unique_ptr<setsep::table> made, const snapshot_facts& facts) {
  // What can fail comes before the change.
  image_.resize(made->shape().block_bytes());
  retired_.reserve(1);
  std::unique_ptr<setsep::table> old = std::exchange(table_, std::move(made));
  store_release(&shown_, static_cast<const setsep::table*>(table_.get()));  // with reader::enter()
  if (old != nullptr) retired_.retire(std::move(old));
  retired_.reclaim();
  retired_.reclaim();  // what no reader can hold any more goes at once
  key_ = facts.key;
  key_bytes_ = facts.key_bytes;
  n_keys_ = facts.n_keys;
  version_ = facts.version;
}

result<delta_outcome> replica::apply(std::span<const std::uint8_t> delta) {
  const auto of = open_delta(delta);
  if (!of) return tl::unexpected(of.error());
  if (table_ == nullptr || of->table != version_.table) return delta_outcome::gap;
  if (of->sequence <= version_.sequence) return delta_outcome::old;
  if (of->sequence != version_.sequence + 1) return delta_outcome::gap;
  // All of it is read before any of it is applied.
  const delta_reader changes(delta, table_->shape(), table_->size(), table_->n_blocks_room());
  std::size_t n_put = 0;
  for (delta_reader check = changes; !check.at_end(); n_put += change_.put.size()) {
    if (auto good = check.next(change_); !good) return tl::unexpected(std::move(good.error()));
  }
  table_->reserve_fallback(n_put);
  for (delta_reader each = changes; !each.at_end();) {
    if (auto good = each.next(change_); !good) return tl::unexpected(std::move(good.error()));
    apply(change_);
  }
  version_ = *of;
  ++n_deltas_;
  return delta_outcome::applied;
}

void replica::apply(const delta_change& change) {
  if (change.growth) {
    table_->apply_growth({table_->size().next_split(), change.split, change.put, change.drop},
                         change.added);
    return;
  }
  const auto now = table_->block(change.block);
  std::copy(now.begin(), now.end(), image_.begin());
  for (const bucket_choice& each : change.choices) {
    std::uint8_t& byte = image_[each.bucket / 4];
    const unsigned shift = each.bucket % 4 * 2U;
    byte = static_cast<std::uint8_t>((byte & ~(3U << shift)) | each.choice << shift);
  }
  const std::size_t group_bytes = table_->shape().group_bytes();
  for (const group_record& each : change.records) {
    std::copy_n(each.record, group_bytes, image_.data() + choice_bytes + each.group * group_bytes);
  }
  table_->apply({change.block, image_, change.put, change.drop});
}

}  // namespace coua::setsep
