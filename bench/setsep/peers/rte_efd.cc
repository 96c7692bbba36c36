// SPDX-License-Identifier: Apache-2.0
#include "bench/setsep/peers/rte_efd.h"

#include <immintrin.h>
#include <rte_efd.h>
#include <rte_errno.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <string>

#include "bench/fib/peers/eal.h"

extern "C" {  // the header does not say so itself
#include <rte_vect.h>
}

namespace coua::bench {
namespace {

constexpr int socket_of_all = 0;

struct efd_bulk_call {
  const rte_efd_table* table;

  /// Of at most RTE_EFD_BURST_MAX keys.
  std::size_t operator()(unsigned, const std::uint64_t* keys, std::size_t n,
                         std::uint32_t* words) const {
    std::array<const void*, RTE_EFD_BURST_MAX> pointers;
    std::array<efd_value_t, RTE_EFD_BURST_MAX> values;
    for (std::size_t k = 0; k < n; ++k) pointers[k] = keys + k;
    rte_efd_lookup_bulk(table, socket_of_all, static_cast<int>(n), pointers.data(), values.data());
    for (std::size_t k = 0; k < n; ++k) words[k] = values[k];
    return n;
  }
};

class rte_efd_peer final : public lookup_table {
 public:
  rte_efd_peer(const peer_params& params, unsigned simd_bits)
      : params_(params), simd_bits_(simd_bits) {}
  ~rte_efd_peer() override { rte_efd_free(table_); }

  std::string name() const override { return "rte_efd"; }

  result<void> load(const population& people) override {
    if (people.value_bits > RTE_EFD_VALUE_NUM_BITS) {
      return fail(errc::unsupported, name(),
                  "is built for values of " + std::to_string(RTE_EFD_VALUE_NUM_BITS) + " bits");
    }
    if (auto made = create(people.entries); !made) return made;
    for (std::uint64_t i = 0; i < people.entries; ++i) {
      const std::uint64_t key = people.key(i);
      const auto value = static_cast<efd_value_t>(people.value(key));
      if (rte_efd_update(table_, socket_of_all, &key, value) == RTE_EFD_UPDATE_FAILED) {
        return fail(errc::no_room, name(), "refuses key " + std::to_string(i));
      }
    }
    return {};
  }
  /// What look-ups read; the keys, which it keeps for changes, are beside it.
  std::uint64_t bytes() const override { return bytes_; }
  json describe() const override { return {{"memory", "4K"}}; }

  std::vector<std::unique_ptr<lookup>> lookups() override {
    std::vector<std::unique_ptr<lookup>> out;
    for (const std::uint64_t batch : params_.batches) {
      const std::uint64_t most = std::min<std::uint64_t>(batch, RTE_EFD_BURST_MAX);
      out.push_back(make_batched_lookup("rte_efd/batch", most, efd_bulk_call{table_}));
    }
    return out;
  }

 private:
  result<void> create(std::uint64_t entries) {
    static std::atomic<unsigned> next = 0;
    const std::string id = "coua_efd_" + std::to_string(next++);
    const std::uint16_t usual = rte_vect_get_max_simd_bitwidth();
    if (simd_bits_ != 0 &&
        rte_vect_set_max_simd_bitwidth(static_cast<std::uint16_t>(simd_bits_)) != 0) {
      return fail(errc::unsupported, name(), "the width of vectors is fixed");
    }
    table_ = rte_efd_create(id.c_str(), static_cast<std::uint32_t>(entries), sizeof(std::uint64_t),
                            std::uint64_t{1} << socket_of_all, socket_of_all);
    if (simd_bits_ != 0) (void)rte_vect_set_max_simd_bitwidth(usual);
    if (table_ == nullptr) {
      return fail(errc::no_memory, name(),
                  std::string("rte_efd_create: ") + rte_strerror(rte_errno));
    }
    // A block of 1,408 keys: 256 choices of 2 bits, and of 64 groups an index and an array, of 16
    // bits each, for each bit of the value.
    const std::uint64_t blocks = std::bit_ceil((entries + 1407) / 1408);
    bytes_ = blocks * (64 + 64 * 4 * RTE_EFD_VALUE_NUM_BITS);
    return {};
  }

  peer_params params_;
  unsigned simd_bits_;
  rte_efd_table* table_ = nullptr;
  std::uint64_t bytes_ = 0;
};

}  // namespace

result<void> start_rte_efd(std::uint64_t most_entries) {
  // Twice what a key takes of blocks, keys and ring, whose numbers are powers of two; pages that
  // are not written take no memory.
  return start_eal(static_cast<unsigned>(128 + (most_entries * 2 * 48 >> 20)));
}

result<std::unique_ptr<lookup_table>> make_rte_efd(const peer_params& params, unsigned simd_bits) {
  return std::make_unique<rte_efd_peer>(params, simd_bits);
}

}  // namespace coua::bench
