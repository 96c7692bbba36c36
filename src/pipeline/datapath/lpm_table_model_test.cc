// SPDX-License-Identifier: Apache-2.0
//
// Random prefixes come and go, against a plain list of them; a failing list of steps is shrunk.
// Addresses are made of few different bytes, so that prefixes meet. After each step, addresses must
// have all prefixes that cover them, in order, and the table no more groups than it may.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "pipeline/datapath/lpm_table.h"

namespace coua::pipeline {
namespace {

struct step {
  enum { insert, erase, set, reclaim } what;
  std::vector<std::uint8_t> address;  // 16 bytes
  unsigned length;
  std::uint32_t handle;
};
std::ostream& operator<<(std::ostream& out, const step& one) {
  static const char* const names[] = {"insert", "erase", "set", "reclaim"};
  out << names[one.what];
  for (const std::uint8_t byte : one.address) out << ' ' << unsigned{byte};
  return out << " /" << one.length << " handle " << one.handle;
}

template <class Address>
Address from_bytes(const std::vector<std::uint8_t>& bytes);
template <>
ipv4_number from_bytes(const std::vector<std::uint8_t>& bytes) {
  ipv4_number made;
  for (unsigned i = 0; i < 4; ++i) made.bits = made.bits << 8 | bytes[i];
  return made;
}
template <>
ipv6_number from_bytes(const std::vector<std::uint8_t>& bytes) {
  ipv6_number made;
  for (unsigned i = 0; i < 8; ++i) made.high = made.high << 8 | bytes[i];
  for (unsigned i = 8; i < 16; ++i) made.low = made.low << 8 | bytes[i];
  return made;
}

rc::Gen<std::vector<std::uint8_t>> any_address() {
  // Long paths in common are what makes groups that skip bytes.
  const auto byte = rc::gen::weightedElement<std::uint8_t>(
      {{12, 0}, {1, 1}, {1, 3}, {1, 64}, {1, 128}, {1, 129}, {1, 255}});
  return rc::gen::container<std::vector<std::uint8_t>>(16, byte);
}
rc::Gen<step> any_step(unsigned n_bits) {
  return rc::gen::construct<step>(
      rc::gen::element(step::insert, step::insert, step::erase, step::set, step::reclaim),
      any_address(), rc::gen::inRange(0U, n_bits + 1), rc::gen::inRange(0U, 1000U));
}

template <class Address>
class model {
 public:
  explicit model(unsigned root_bits)
      : table_(*lpm_table<Address>::create({.root_bits = root_bits}, reclaim_)) {}
  ~model() { reclaim_.retire(std::move(table_)); }

  /// `pick`: which of those that are there an erase or a change is for.
  void apply(const step& one) {
    const Address prefix = from_bytes<Address>(one.address).first(one.length);
    switch (one.what) {
      case step::insert: return insert(prefix, one.length, one.handle);
      case step::erase: return erase(prefix, one.length, one.handle);
      case step::set:
        if (!all_.empty()) {
          auto& [key, handle] =
              *std::next(all_.begin(), static_cast<long>(one.handle % all_.size()));
          handle = one.handle;
          table_->set_handle(table_->find(key.second, key.first), handle);
        }
        return;
      case step::reclaim: reclaim_.reclaim(); return;
    }
  }

  void check(const std::vector<Address>& addresses) const {
    const std::vector<const lpm_table<Address>*> tables(addresses.size(), table_.get());
    std::vector<lpm_slot> found(addresses.size());
    lpm_table<Address>::lookup(tables.data(), addresses.data(), addresses.size(), found.data());
    check_alone(addresses, found);
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      lpm_slot slot = found[i];
      for (unsigned length = Address::n_bits + 1; length-- > 0;) {
        const auto at = all_.find({length, addresses[i].first(length)});
        if (at == all_.end()) continue;
        RC_ASSERT(slot != 0);
        RC_ASSERT(table_->length(slot) == length);
        RC_ASSERT(table_->prefix(slot) == at->first.second);
        RC_ASSERT(table_->handle(slot) == at->second);
        slot = table_->parent(slot);
      }
      RC_ASSERT(slot == 0);
    }
    const lpm_stats stats = table_->stats();
    RC_ASSERT(stats.prefixes == all_.size());
    RC_ASSERT(stats.groups <= (all_.empty() ? 0 : all_.size() - 1));
  }

  void erase_all() {
    while (!all_.empty()) {
      erase(all_.begin()->first.second, all_.begin()->first.first, 1);
    }
  }
  const auto& all() const { return all_; }

 private:
  /// By the look-up in one table it is the same, with the handles.
  void check_alone(const std::vector<Address>& addresses,
                   const std::vector<lpm_slot>& found) const {
    constexpr std::size_t most = simd::lpm_batch_max;
    for (std::size_t at = 0; at < addresses.size(); at += most) {
      const std::size_t n = std::min(most, addresses.size() - at);
      lpm_slot slots[most];
      lpm_handle handles[most];
      table_->lookup(&addresses[at], n, slots, handles);
      for (std::size_t i = 0; i < n; ++i) {
        RC_ASSERT(slots[i] == found[at + i]);
        RC_ASSERT(handles[i] == (slots[i] == 0 ? 0 : table_->handle(slots[i])));
      }
    }
  }

  void insert(Address prefix, unsigned length, std::uint32_t handle) {
    const auto done = table_->insert(prefix, length, handle);
    const bool is_new = all_.emplace(std::pair(length, prefix), handle).second;
    RC_ASSERT(done.has_value() == is_new);
    RC_ASSERT(is_new || done.error().code == errc::exists);
    if (is_new) RC_ASSERT(table_->find(prefix, length) == *done);
  }
  void erase(Address prefix, unsigned length, std::uint32_t pick) {
    auto at = all_.find({length, prefix});
    if (at == all_.end() && !all_.empty() && pick % 4 != 0) {  // else one that is not there
      at = std::next(all_.begin(), static_cast<long>(pick % all_.size()));
      std::tie(length, prefix) = at->first;
    }
    RC_ASSERT((table_->find(prefix, length) != 0) == (at != all_.end()));
    RC_ASSERT(table_->erase(prefix, length) == (at != all_.end()));
    RC_ASSERT(table_->find(prefix, length) == lpm_slot{0});
    if (at != all_.end()) all_.erase(at);
  }

  struct order {
    using key = std::pair<unsigned, Address>;
    static auto words(const ipv4_number& a) { return a.bits; }
    static auto words(const ipv6_number& a) { return std::pair(a.high, a.low); }
    bool operator()(const key& a, const key& b) const {
      return a.first != b.first ? a.first < b.first : words(a.second) < words(b.second);
    }
  };

  qsbr domain_;
  reclaimer reclaim_{domain_};
  std::unique_ptr<lpm_table<Address>> table_;
  std::map<std::pair<unsigned, Address>, std::uint32_t, order> all_;
};

constexpr std::ptrdiff_t n_recent = 24;  // addresses that are looked up after each step

template <class Address>
void run(unsigned root_bits) {
  const auto steps =
      *rc::gen::scale(3, rc::gen::container<std::vector<step>>(any_step(Address::n_bits)));
  const auto others = *rc::gen::container<std::vector<std::vector<std::uint8_t>>>(8, any_address());
  model<Address> tested(root_bits);
  std::vector<Address> addresses;
  for (const auto& one : others) addresses.push_back(from_bytes<Address>(one));
  for (const step& one : steps) {
    // Those of the prefixes, and beside them.
    Address address = from_bytes<Address>(one.address);
    addresses.push_back(address);
    addresses.push_back(address.first(one.length));
    tested.apply(one);
    const bool all = &one == &steps.back() || addresses.size() % 16 == 0;
    const auto first = all ? 0 : static_cast<std::ptrdiff_t>(addresses.size()) - n_recent;
    tested.check({addresses.begin() + std::max<std::ptrdiff_t>(first, 0), addresses.end()});
  }
  tested.erase_all();
  tested.check(addresses);
}

TEST(lpm_table_model, ipv4_with_a_root_of_16_bits) {
  EXPECT_TRUE(rc::check([] { run<ipv4_number>(16); }));
}
TEST(lpm_table_model, ipv4_with_a_root_of_8_bits) {
  EXPECT_TRUE(rc::check([] { run<ipv4_number>(8); }));
}
TEST(lpm_table_model, ipv6_with_a_root_of_16_bits) {
  EXPECT_TRUE(rc::check([] { run<ipv6_number>(16); }));
}
TEST(lpm_table_model, ipv6_with_a_root_of_8_bits) {
  EXPECT_TRUE(rc::check([] { run<ipv6_number>(8); }));
}

}  // namespace
}  // namespace coua::pipeline
