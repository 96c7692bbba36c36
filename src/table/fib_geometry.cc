// SPDX-License-Identifier: Apache-2.0
#include "table/fib_geometry.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/key_permutation.h"

namespace coua {
namespace {

constexpr std::uint64_t max_entries = std::uint64_t{1} << 40;
constexpr unsigned flag_bits = 6;  // occupied, guest, static, three of age

/// Bits that tell apart the keys of one of `n_buckets` intervals.
unsigned tag_bits_for(std::uint64_t n_buckets) {
  const std::uint64_t space = std::uint64_t{1} << key_permutation::key_bits;
  const std::uint64_t interval = space / n_buckets + (space % n_buckets != 0);
  return static_cast<unsigned>(std::bit_width(interval - 1));
}

/// The smallest bucket count whose tags leave room for the value in a packed slot.
std::uint64_t min_packed_buckets(unsigned value_bits) {
  return std::uint64_t{1} << (key_permutation::key_bits - (64 - flag_bits - value_bits));
}

}  // namespace

std::uint64_t fib_geometry::bucket_bytes() const {
  switch (layout) {
    case simd::fib_layout::packed8: return 64;
    case simd::fib_layout::packed4: return 32;
    case simd::fib_layout::wide8: return 128;
  }
  return 0;
}

result<fib_geometry> fib_geometry::plan(const coua_fib_params& params) {
  const auto invalid = [](const char* parameter, const char* range) {
    return fail(errc::invalid, parameter, range);
  };
  fib_geometry plan{};
  plan.value_bits = params.value_bits == 0 ? 16 : params.value_bits;
  if (plan.value_bits > COUA_FIB_VALUE_BITS_MAX) {
    return invalid("value_bits", "must be 1 to 24, or 0 for 16");
  }
  const double load = params.max_load == 0 ? 0.95 : params.max_load;
  if (!(load >= 0.05 && load <= 0.99)) {
    return invalid("max_load", "must be 0.05 to 0.99, or 0 for 0.95");
  }
  switch (params.layout) {
    case COUA_FIB_LAYOUT_AUTO:
    case COUA_FIB_LAYOUT_PACKED8: plan.layout = simd::fib_layout::packed8; break;
    case COUA_FIB_LAYOUT_PACKED4: plan.layout = simd::fib_layout::packed4; break;
    case COUA_FIB_LAYOUT_WIDE8: plan.layout = simd::fib_layout::wide8; break;
    default: return invalid("layout", "is not a value of enum coua_fib_layout");
  }
  if (params.buckets == 0) {
    if (params.entries == 0 || params.entries > max_entries) {
      return invalid("entries", "must be 1 to 2^40 (or give `buckets`)");
    }
    const double slots = static_cast<double>(params.entries) / load;
    plan.n_buckets = static_cast<std::uint64_t>(std::ceil(slots / plan.n_slots()));
  } else {
    if (params.buckets > max_entries / 4) return invalid("buckets", "must be 1 to 2^38");
    plan.n_buckets = params.buckets;
  }
  plan.n_buckets_asked = plan.n_buckets;
  const std::uint64_t min_buckets = min_packed_buckets(plan.value_bits);
  if (plan.layout != simd::fib_layout::wide8 && plan.n_buckets < min_buckets) {
    // Two wide lines a bucket cost no more than packed buckets until half the minimum.
    if (params.layout == COUA_FIB_LAYOUT_AUTO && plan.n_buckets <= min_buckets / 2) {
      plan.layout = simd::fib_layout::wide8;
    } else {
      plan.n_buckets = min_buckets;
    }
  }
  plan.tag_bits = plan.layout == simd::fib_layout::wide8 ? key_permutation::key_bits
                                                         : tag_bits_for(plan.n_buckets);
  return plan;
}

}  // namespace coua
