// SPDX-License-Identifier: Apache-2.0
#include "bench/lpm/coua_routes.h"

#include <algorithm>

#include "bench/harness/question.h"
#include "pipeline/datapath/lpm_table.h"

namespace coua::bench {
namespace {

using pipeline::ipv4_number;
using pipeline::ipv6_number;
using pipeline::lpm_slot;
using pipeline::lpm_table;

void take(std::uint64_t high, std::uint64_t, ipv4_number& to) {
  to.bits = static_cast<std::uint32_t>(high >> 32);
}
void take(std::uint64_t high, std::uint64_t low, ipv6_number& to) { to = {high, low}; }

template <class Address>
class coua_routes final : public route_table {
 public:
  coua_routes(unsigned root_bits, std::size_t batch)
      : route_table("coua", {{"root", root_bits}}), root_bits_(root_bits), batch_(batch) {}
  ~coua_routes() override {
    if (table_ != nullptr) reclaim_.retire(std::move(table_));
  }

  result<void> load(const route_set& routes) {
    auto made = lpm_table<Address>::create({.root_bits = root_bits_}, reclaim_);
    if (!made) return tl::unexpected(made.error());
    table_ = std::move(*made);
    for (std::size_t i = 0; i < routes.routes().size(); ++i) {
      const route& one = routes.routes()[i];
      const auto added = table_->insert(of(one), one.length, static_cast<std::uint32_t>(i));
      if (!added) return tl::unexpected(added.error());
    }
    return {};
  }

  std::uint64_t ask(unsigned, const std::uint64_t* words, std::size_t n) override {
    constexpr std::size_t most = chunk_keys;
    Address addresses[most];
    lpm_slot slots[most];
    pipeline::lpm_handle handles[most];
    std::uint64_t sum = 0;
    for (std::size_t at = 0; at < n; at += batch_) {
      const std::size_t size = std::min(batch_, n - at);
      for (std::size_t i = 0; i < size; ++i) {
        take(words[2 * (at + i)], words[2 * (at + i) + 1], addresses[i]);
      }
      table_->lookup(addresses, size, slots, handles);
      for (std::size_t i = 0; i < size; ++i) sum += handles[i];
    }
    return sum;
  }

  void change(const route& one, std::uint32_t value) override {
    table_->erase(of(one), one.length);
    (void)table_->insert(of(one), one.length, value);
    reclaim_.reclaim();
  }
  std::uint64_t bytes() const override { return table_->stats().bytes; }
  json describe() const override { return {{"groups", table_->stats().groups}}; }

 private:
  static Address of(const route& one) {
    Address address;
    take(one.high, one.low, address);
    return address;
  }

  const unsigned root_bits_;
  const std::size_t batch_;
  qsbr domain_;
  reclaimer reclaim_{domain_};
  std::unique_ptr<lpm_table<Address>> table_;
};

template <class Address>
result<std::unique_ptr<route_table>> make(const route_set& routes, unsigned root_bits,
                                          std::size_t batch) {
  auto table = std::make_unique<coua_routes<Address>>(root_bits, batch);
  if (auto loaded = table->load(routes); !loaded) return tl::unexpected(loaded.error());
  return table;
}

}  // namespace

result<std::unique_ptr<route_table>> make_coua_routes(const route_set& routes, unsigned root_bits,
                                                      std::size_t batch) {
  return routes.family() == ip_family::ipv4 ? make<ipv4_number>(routes, root_bits, batch)
                                            : make<ipv6_number>(routes, root_bits, batch);
}

}  // namespace coua::bench
