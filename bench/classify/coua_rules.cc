// SPDX-License-Identifier: Apache-2.0
#include "bench/classify/coua_rules.h"

#include <algorithm>
#include <cstring>

#include "bench/harness/cpu_time.h"
#include "bench/harness/question.h"

namespace coua::bench {

result<std::unique_ptr<coua_rules>> coua_rules::create(
    const rule_source& source, const std::string& word, coua_classifier_distributor distributor,
    bool pruned, std::optional<isa> instruction_set, std::size_t batch) {
  json shown = {{"distributor", word}, {"pruned", pruned}};
  if (instruction_set) shown["simd"] = to_string(*instruction_set);
  std::unique_ptr<coua_rules> made(
      new coua_rules("distributor/" + word, std::move(shown), source, batch));
  coua_classifier_params params = COUA_CLASSIFIER_PARAMS_INIT;
  params.key_bytes = static_cast<std::uint32_t>(source.ternary.key_bytes);
  params.distributor = distributor;
  params.unpruned = !pruned;
  char message[200] = "";
  if (coua_classifier_create(&params, &made->classifier_, message, sizeof message) != 0) {
    return fail(errc::no_memory, made->name(), message);
  }
  if (result<void> loaded = made->load(); !loaded) return tl::unexpected(loaded.error());
  // Kernels are chosen when the reader is made.
  if (instruction_set) {
    cap_simd_bits(*instruction_set == isa::avx512 ? 512 : *instruction_set == isa::avx2 ? 256 : 0);
  }
  const int failed = coua_classifier_reader_create(made->classifier_, &made->reader_);
  cap_simd_bits(512);
  if (failed != 0) return fail(errc::no_memory, made->name(), "no reader");
  return made;
}

coua_rules::~coua_rules() { coua_classifier_destroy(classifier_); }

result<void> coua_rules::load() {
  const std::uint64_t start = this_thread_cpu_ns();
  for (const ternary_entry& each : source_.ternary.entries) {
    const int done = coua_classifier_add(classifier_, each.key.data(), each.mask.data(),
                                         each.priority, each.rule);
    if (done < 0) return fail(errc::no_room, name(), std::string("rule: ") + std::strerror(-done));
  }
  seconds_to_add_ = static_cast<double>(this_thread_cpu_ns() - start) / 1e9;
  return {};
}

std::uint64_t coua_rules::ask(unsigned, const std::uint64_t* words, std::size_t n) {
  coua_classifier_answer answers[chunk_keys];
  std::uint64_t sum = 0;
  const std::size_t key_words = source_.key_words();
  for (std::size_t at = 0; at < n; at += batch_) {
    const std::size_t size = std::min(batch_, n - at);
    for (std::size_t i = 0; i < size; ++i) answers[i].priority = UINT32_MAX;
    coua_classifier_lookup_batch(reader_, words + at * key_words, size, answers, nullptr);
    for (std::size_t i = 0; i < size; ++i) sum += answers[i].priority;
  }
  return sum;
}

json coua_rules::describe() {
  coua_classifier_reader_stats now{};
  now.size = sizeof now;
  coua_classifier_get_reader_stats(reader_, &now);
  const auto share = [](std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  const std::uint64_t lookups = now.lookups - before_.lookups;
  json out = {
      {"probes_per_hit", share(now.hit_probes - before_.hit_probes, now.hits - before_.hits)},
      {"hinted", share(now.hinted - before_.hinted, lookups)},
      {"final_hints", share(now.final_hints - before_.final_hints, lookups)},
      {"false_hints", share(now.false_hints - before_.false_hints, lookups)},
      {"on", now.distributor_on != 0},
      {"saved_probes", now.saved_probes}};
  before_ = now;
  return out;
}

}  // namespace coua::bench
