// SPDX-License-Identifier: Apache-2.0
#include "flow/flow_geometry.h"

#include <cmath>

namespace coua {
namespace {

constexpr std::uint64_t max_buckets = std::uint64_t{1} << 32;  // simd/flow_lookup/line.h
constexpr std::uint32_t default_unit_ms = 30'000;
constexpr std::uint32_t max_unit_ms = 86'400'000;  // a day
constexpr std::uint32_t default_search_budget = 2048;
constexpr std::uint32_t max_search_budget = 1 << 20;
// 42.2 bytes for an entry of 16 and 16 bytes at load 0.95.
constexpr std::uint32_t default_filter_rounds = 20;
constexpr std::uint32_t max_filter_rounds = 64;
constexpr std::uint64_t max_expired_ring = 1 << 24;

tl::unexpected<error> invalid(const char* parameter, const char* range) {
  return fail(errc::invalid, parameter, range);
}

result<void> plan_kind(const coua_flow_params& params, flow_geometry& plan) {
  if (params.variant < COUA_FLOW_BLOOM || params.variant > COUA_FLOW_HORTON) {
    return invalid("variant", "is not a value of enum coua_flow_variant");
  }
  if (params.sync < COUA_FLOW_SINGLE || params.sync > COUA_FLOW_ONE_WRITER) {
    return invalid("sync", "is not a value of enum coua_flow_sync");
  }
  if (params.timers > COUA_FLOW_TIMERS_OFF) {
    return invalid("timers", "is not a value of enum coua_flow_timers");
  }
  plan.kind.variant = static_cast<simd::flow_variant>(params.variant);
  plan.kind.sync = static_cast<simd::flow_sync>(params.sync);
  plan.kind.timed = params.timers == COUA_FLOW_TIMERS_DEFAULT
                        ? params.sync == COUA_FLOW_ONE_WRITER
                        : params.timers == COUA_FLOW_TIMERS_ON;
  plan.unit_ms = params.unit_ms == 0 ? default_unit_ms : params.unit_ms;
  if (plan.unit_ms > max_unit_ms) return invalid("unit_ms", "must be at most 86,400,000 (a day)");
  return {};
}

result<void> plan_entries(const coua_flow_params& params, flow_geometry& plan) {
  if (params.key_bytes < COUA_FLOW_KEY_BYTES_MIN || params.key_bytes > COUA_FLOW_KEY_BYTES_MAX) {
    return invalid("key_bytes", "must be 4 to 128");
  }
  if (params.value_bytes > COUA_FLOW_VALUE_BYTES_MAX) {
    return invalid("value_bytes", "must be 0 to 64");
  }
  plan.key_bytes = params.key_bytes;
  plan.value_bytes = params.value_bytes;
  plan.key_stride = params.key_stride == 0 ? params.key_bytes : params.key_stride;
  plan.value_stride = params.value_stride == 0 ? params.value_bytes : params.value_stride;
  if (plan.key_stride < plan.key_bytes) return invalid("key_stride", "is less than key_bytes");
  if (plan.value_stride < plan.value_bytes) {
    return invalid("value_stride", "is less than value_bytes");
  }
  return {};
}

result<void> plan_buckets(const coua_flow_params& params, flow_geometry& plan) {
  const std::uint32_t slots = params.bucket_slots == 0 ? 8 : params.bucket_slots;
  if (slots != 1 && slots != 2 && slots != 4 && slots != 8) {
    return invalid("bucket_slots", "must be 1, 2, 4 or 8, or 0 for 8");
  }
  plan.n_slots = slots;
  const double load = params.max_load == 0 ? 0.95 : params.max_load;
  if (!(load >= 0.05 && load <= 0.99)) {
    return invalid("max_load", "must be 0.05 to 0.99, or 0 for 0.95");
  }
  plan.n_buckets = params.buckets;
  if (params.buckets == 0) {
    if (params.entries == 0) return invalid("entries", "must be given (or `buckets`)");
    const double n_slots = static_cast<double>(params.entries) / load;
    const double n_buckets = std::ceil(n_slots / slots);
    if (n_buckets > static_cast<double>(max_buckets)) {
      return invalid("entries", "need more than 2^32 buckets at this load");
    }
    plan.n_buckets = static_cast<std::uint64_t>(n_buckets);
  }
  if (plan.n_buckets > max_buckets) return invalid("buckets", "must be 1 to 2^32");
  plan.filter_rounds = params.filter_rounds == 0 ? default_filter_rounds : params.filter_rounds;
  if (plan.filter_rounds > max_filter_rounds) {
    return invalid("filter_rounds", "must be 1 to 64, or 0 for 20");
  }
  plan.search_budget = params.search_budget == 0 ? default_search_budget : params.search_budget;
  if (plan.search_budget > max_search_budget) {
    return invalid("search_budget", "must be at most 1,048,576 buckets");
  }
  return {};
}

}  // namespace

result<flow_geometry> flow_geometry::plan(const coua_flow_params& params) {
  flow_geometry plan;
  if (auto done = plan_kind(params, plan); !done) return tl::unexpected(done.error());
  if (auto done = plan_entries(params, plan); !done) return tl::unexpected(done.error());
  if (auto done = plan_buckets(params, plan); !done) return tl::unexpected(done.error());
  if (params.expired != nullptr && !plan.kind.timed) return invalid("expired", "needs timers");
  if (params.expired_ring > max_expired_ring) {
    return invalid("expired_ring", "must be at most 16,777,216 entries");
  }
  if (params.expired_ring != 0 && !plan.kind.timed) {
    return invalid("expired_ring", "needs timers");
  }
  if (params.expired_ring != 0 && params.expired != nullptr) {
    return invalid("expired_ring", "and expired exclude each other");
  }
  plan.expired_ring = params.expired_ring;
  plan.expired = params.expired;
  plan.expired_context = params.expired_context;
  return plan;
}

}  // namespace coua
