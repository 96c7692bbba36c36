// SPDX-License-Identifier: Apache-2.0
#include "bench/setsep/setsep_lookups.h"

#include <algorithm>

#include "setsep/pipeline.h"

namespace coua::bench {
namespace {

std::uint64_t sum_of(const std::uint16_t* values, std::size_t n) {
  std::uint64_t sum = 0;
  std::size_t i = 0;
  // A number that the compiler knows: else the sum takes a tenth of the time of a look-up.
  for (; i + simd::setsep_batch <= n; i += simd::setsep_batch) {
    for (std::size_t k = 0; k < simd::setsep_batch; ++k) sum += values[i + k];
  }
  for (; i < n; ++i) sum += values[i];
  return sum;
}

std::uint64_t batched(const setsep::table& in, const key_trace& of, std::size_t batch) {
  std::vector<std::uint16_t> values(batch);
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < setsep_trace_keys; at += batch) {
    const std::size_t n = std::min(batch, setsep_trace_keys - at);
    in.find_batch(of.hashes.data() + at, n, values.data());
    sum += sum_of(values.data(), n);
  }
  return sum;
}

std::uint64_t pipelined(const setsep::table& in, const key_trace& of) {
  std::uint16_t values[simd::setsep_batch];
  setsep::lookup_pipeline pipeline;
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < setsep_trace_keys; at += simd::setsep_batch) {
    const std::size_t n = pipeline.submit(in, of.hashes.data() + at, simd::setsep_batch, values);
    sum += sum_of(values, n);
  }
  std::uint16_t rest[setsep::lookup_pipeline::depth];
  return sum + sum_of(rest, pipeline.drain(in, rest));
}

std::uint64_t hashed(const setsep::table& in, const key_trace& of,
                     const setsep::key_hasher& hasher) {
  setsep::key_hash hashes[simd::setsep_batch];
  std::uint16_t values[simd::setsep_batch];
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < setsep_trace_keys; at += simd::setsep_batch) {
    hasher.hash_batch(&of.keys[at], simd::setsep_batch, hashes);
    in.find_batch(hashes, simd::setsep_batch, values);
    sum += sum_of(values, simd::setsep_batch);
  }
  return sum;
}

}  // namespace

std::vector<setsep_contender> setsep_lookups(const setsep::table& in, const setsep::table* mapped,
                                             const std::vector<std::uint64_t>& batches,
                                             const setsep::key_hasher* hasher, const json& params,
                                             const json& more) {
  std::vector<setsep_contender> made;
  const auto add = [&](const char* name, std::uint64_t batch, const setsep::table& asked,
                       auto ask) {
    setsep_contender one;
    one.name = name;
    one.params = params;
    one.params["batch"] = batch;
    one.more = more;
    one.ours = true;
    one.n_keys = setsep_trace_keys;
    one.ask = [&asked, ask](unsigned, const key_trace& of) { return ask(asked, of); };
    made.push_back(std::move(one));
  };
  const auto in_batches = [](std::uint64_t batch) {
    return [batch](const auto& table, const auto& of) { return batched(table, of, batch); };
  };
  for (const std::uint64_t batch : batches) add("setsep/lookup", batch, in, in_batches(batch));
  constexpr auto usual = simd::setsep_batch;
  add("setsep/pipeline", usual, in, pipelined);
  if (mapped != nullptr) add("setsep/mapped-lookup", usual, *mapped, in_batches(usual));
  if (hasher != nullptr) {
    add("setsep/hash-lookup", usual, in,
        [hasher](const auto& table, const auto& of) { return hashed(table, of, *hasher); });
  }
  return made;
}

}  // namespace coua::bench
