// SPDX-License-Identifier: Apache-2.0
#include "bench/lpm/peers/rte_routes.h"

#include <rte_fib.h>
#include <rte_fib6.h>

#include <algorithm>
#include <cstring>

#include "base/size.h"
#include "bench/fib/peers/eal.h"
#include "bench/fib/peers/rte_heap.h"
#include "bench/harness/question.h"

namespace coua::bench {
namespace {

constexpr std::uint64_t no_route = (1U << 31) - 1;  // a bit is its own
constexpr std::size_t v6_bytes = RTE_FIB6_IPV6_ADDR_SIZE;

void put_address(std::uint64_t high, std::uint64_t low, std::uint8_t* to) {
  const std::uint64_t words[2] = {__builtin_bswap64(high), __builtin_bswap64(low)};
  std::memcpy(to, words, sizeof words);
}

/// What the two tables have in common.
class rte_routes : public route_table {
 public:
  explicit rte_routes(std::size_t batch) : route_table("rte_fib", json::object()), batch_(batch) {}

  result<void> load(const route_set& routes, std::uint64_t heap_bytes) {
    if (auto started = start_eal(); !started) return started;
    auto heap = rte_heap::create("rte_fib", heap_bytes, page_kind::automatic);
    if (!heap) return tl::unexpected(heap.error());
    heap_ = std::move(*heap);
    const auto n = static_cast<int>(routes.routes().size());
    if (!create(heap_->id().c_str(), heap_->socket(), 2 * n)) {
      return fail(errc::no_memory, "rte_fib", "cannot be created");
    }
    for (int i = 0; i < n; ++i) {
      const route& one = routes.routes()[static_cast<std::size_t>(i)];
      if (const int code = add(one, static_cast<std::uint64_t>(i)); code != 0) {
        return fail(errc::no_room, "rte_fib", std::string("route: ") + std::strerror(-code));
      }
    }
    return {};
  }
  void change(const route& one, std::uint32_t value) override {
    remove(one);
    add(one, value);
  }
  std::uint64_t bytes() const override { return heap_->bytes_allocated(); }

 protected:
  virtual bool create(const char* name, int socket, int n) = 0;
  virtual int add(const route& one, std::uint64_t value) = 0;
  virtual void remove(const route& one) = 0;

  std::size_t batch() const { return batch_; }

 private:
  const std::size_t batch_;
  std::unique_ptr<rte_heap> heap_;
};

class rte_fib4_routes final : public rte_routes {
 public:
  using rte_routes::rte_routes;
  ~rte_fib4_routes() override { rte_fib_free(fib_); }

  std::uint64_t ask(unsigned, const std::uint64_t* words, std::size_t n) override {
    std::uint32_t addresses[chunk_keys];
    std::uint64_t hops[chunk_keys], sum = 0;
    for (std::size_t at = 0; at < n; at += batch()) {
      const std::size_t size = std::min(batch(), n - at);
      for (std::size_t i = 0; i < size; ++i) {
        addresses[i] = static_cast<std::uint32_t>(words[2 * (at + i)] >> 32);
      }
      rte_fib_lookup_bulk(fib_, addresses, hops, static_cast<int>(size));
      for (std::size_t i = 0; i < size; ++i) sum += hops[i];
    }
    return sum;
  }

 protected:
  bool create(const char* name, int socket, int n) override {
    rte_fib_conf conf{};
    conf.type = RTE_FIB_DIR24_8;
    conf.default_nh = no_route;
    conf.max_routes = n;
    conf.dir24_8.nh_sz = RTE_FIB_DIR24_8_4B;
    conf.dir24_8.num_tbl8 = 1U << 15;
    fib_ = rte_fib_create(name, socket, &conf);
    return fib_ != nullptr;
  }
  int add(const route& one, std::uint64_t value) override {
    return rte_fib_add(fib_, static_cast<std::uint32_t>(one.high >> 32),
                       static_cast<std::uint8_t>(one.length), value);
  }
  void remove(const route& one) override {
    rte_fib_delete(fib_, static_cast<std::uint32_t>(one.high >> 32),
                   static_cast<std::uint8_t>(one.length));
  }

 private:
  rte_fib* fib_ = nullptr;
};

class rte_fib6_routes final : public rte_routes {
 public:
  using rte_routes::rte_routes;
  ~rte_fib6_routes() override { rte_fib6_free(fib_); }

  std::uint64_t ask(unsigned, const std::uint64_t* words, std::size_t n) override {
    std::uint8_t addresses[chunk_keys][v6_bytes];
    std::uint64_t hops[chunk_keys], sum = 0;
    for (std::size_t at = 0; at < n; at += batch()) {
      const std::size_t size = std::min(batch(), n - at);
      for (std::size_t i = 0; i < size; ++i) {
        put_address(words[2 * (at + i)], words[2 * (at + i) + 1], addresses[i]);
      }
      rte_fib6_lookup_bulk(fib_, addresses, hops, static_cast<int>(size));
      for (std::size_t i = 0; i < size; ++i) sum += hops[i];
    }
    return sum;
  }

 protected:
  bool create(const char* name, int socket, int n) override {
    rte_fib6_conf conf{};
    conf.type = RTE_FIB6_TRIE;
    conf.default_nh = no_route;
    conf.max_routes = n;
    conf.trie.nh_sz = RTE_FIB6_TRIE_4B;
    conf.trie.num_tbl8 = 2 * static_cast<std::uint32_t>(n);
    fib_ = rte_fib6_create(name, socket, &conf);
    return fib_ != nullptr;
  }
  int add(const route& one, std::uint64_t value) override {
    std::uint8_t address[v6_bytes];
    put_address(one.high, one.low, address);
    return rte_fib6_add(fib_, address, static_cast<std::uint8_t>(one.length), value);
  }
  void remove(const route& one) override {
    std::uint8_t address[v6_bytes];
    put_address(one.high, one.low, address);
    rte_fib6_delete(fib_, address, static_cast<std::uint8_t>(one.length));
  }

 private:
  rte_fib6* fib_ = nullptr;
};

}  // namespace

result<std::unique_ptr<route_table>> make_rte_fib(const route_set& routes, std::size_t batch) {
  const std::uint64_t n = routes.routes().size();
  // First tables of 64 MiB; nodes of its own tree, two a route; groups of 1 KiB, up to four a
  // route.
  std::uint64_t heap_bytes = (std::uint64_t{256} << 20) + 1024 * n;
  std::unique_ptr<rte_routes> table;
  if (routes.family() == ip_family::ipv4) {
    table = std::make_unique<rte_fib4_routes>(batch);
  } else {
    table = std::make_unique<rte_fib6_routes>(batch);
    heap_bytes += 4096 * n;
  }
  if (auto loaded = table->load(routes, heap_bytes); !loaded) {
    return tl::unexpected(loaded.error());
  }
  return table;
}

}  // namespace coua::bench
