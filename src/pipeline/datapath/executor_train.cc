// SPDX-License-Identifier: Apache-2.0
//
// Trains: packets of one flow come behind each other, as those of a fast transfer do, and fill a
// burst. Their keys are the same in each table, so one of them is looked up for all; and packets
// that meet one rule, of one flow or of many, are counted at once.
//
// Bursts of many flows pay for a few looks that tell what they are not; whether all is alike is
// found out apart, where it may be.
#include <algorithm>
#include <cstring>

#include "net/wire.h"
#include "pipeline/datapath/executor.h"

namespace coua::pipeline {

/// Eight bytes that are seldom the same in two flows: of addresses of IP, or of Ethernet.
static std::uint64_t sample_of(const packet_state& p) noexcept {
  if (!p.layers.has(net::layer::ethernet)) return 0;
  std::size_t at = 4;  // the end of the receiver's, and the sender's
  if (p.layers.has(net::layer::ipv4)) at = p.layers.network + net::wire::ipv4::source;
  if (p.layers.has(net::layer::ipv6)) at = p.layers.network + net::wire::ipv6::source + 8;
  return net::load_raw<std::uint64_t>(p.buffer.bytes + at);
}

bool executor::may_be_one_flow() const noexcept {
  if (n_ < train_min) return false;
  const std::uint64_t first = sample_of(packets_[0]);
  if (first != sample_of(packets_[n_ / 2])) [[likely]]
    return false;
  return first == sample_of(packets_[n_ / 4]) && first == sample_of(packets_[n_ - 1]);
}

bool executor::is_one_key(const key_layout& layout, const packet_list& list) noexcept {
  if (!layout.may_match(packets_[list.at[0]].layers)) return true;
  const std::size_t n_words = layout.n_words();
  layout.take(packets_, list.at, list.n, keys_, n_words);
  // Each is as the next one.
  return std::memcmp(keys_, keys_ + n_words, (list.n - 1) * n_words * sizeof *keys_) == 0;
}

bool executor::is_one_key(const prefix_table& prefixes, const packet_list& list) noexcept {
  const packet_state& first = packets_[list.at[0]];
  if (prefixes.rest && !is_one_key(*prefixes.rest, list)) return false;
  if (!first.layers.has(prefixes.place.needs)) {
    return prefixes.rest || std::all_of(list.at, list.at + list.n, [&](slot at) {
             return prefixes.may_match_without(packets_[at]) == prefixes.may_match_without(first);
           });
  }
  const auto is_one = [&](auto address_of) {
    const auto address = address_of(first);
    return std::all_of(list.at, list.at + list.n,
                       [&](slot at) { return address_of(packets_[at]) == address; });
  };
  return prefixes.is_ipv4()
             ? is_one([&](const packet_state& p) { return prefixes.address<ipv4_number>(p); })
             : is_one([&](const packet_state& p) { return prefixes.address<ipv6_number>(p); });
}

/// Direct tables may be other ones when the first packet is looked up: of the rules that count at
/// the burst's version both take all bits.
bool executor::is_one_key(const table_stage& of, const packet_list& list) noexcept {
  const net::layer::bits there = packets_[list.at[0]].layers.present;
  const bool are_alike = std::all_of(list.at, list.at + list.n, [&](slot at) {
    return table_[at] == of.table && packets_[at].layers.present == there;
  });
  if (!are_alike) return false;
  const direct_table* const apart = plan_->has_apart[of.table] ? of.rules_apart() : nullptr;
  if (apart != nullptr && !is_one_key(apart->layout, list)) return false;
  switch (of.kind) {
    case table_template::direct:
      return is_one_key(of.direct.load(std::memory_order_acquire)->layout, list);
    case table_template::exact: return is_one_key(of.exact->layout(), list);
    case table_template::lpm: return is_one_key(*of.prefixes, list);
    case table_template::decomposed:
      return is_one_key(of.decomposed->by_value->layout(), list) &&
             is_one_key(of.decomposed->rest, list) &&
             is_one_key(of.decomposed->apart->load(std::memory_order_acquire)->layout, list);
    case table_template::classifier: return is_one_key(of.wildcard->layout(), list);
  }
  return false;
}

void executor::look_up_train(const table_stage& of, const packet_list& list,
                             met_rules& found) noexcept {
  if (list.n < train_min || !is_one_key(of, list)) return look_up(of, list, found);
  look_up(of, packet_list(list.at[0]), found);
  std::fill_n(found.records + 1, list.n - 1, found.records[0]);
  std::fill_n(found.counters + 1, list.n - 1, found.counters[0]);
}

bool executor::count_as_one(const packet_list& list, const met_rules& found, work& all,
                            alike& are) noexcept {
  const action_record* const first = found.records[0];
  const std::uint32_t number = found.counters[0];
  for (unsigned k = 0; k < list.n; ++k) {
    if (found.records[k] != first || found.counters[k] != number) return false;
  }
  std::uint64_t n_bytes = 0;
  for (unsigned k = 0; k < list.n; ++k) n_bytes += frame_bytes_[list.at[k]];
  counts_.add(number, n_bytes, list.n);
  counts_.add_table(table_[list.at[0]], list.n, list.n);
  all.n = list.n;
  all.is_in_a_row = list.is_in_a_row;
  std::copy(std::begin(list.at), std::end(list.at), all.at);
  all.next[0] = first->traits.next_table;
  std::fill_n(all.ops, list.n, first->ops());
  are = {true, first->traits.is_metered};
  return true;
}

}  // namespace coua::pipeline
