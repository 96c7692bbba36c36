// SPDX-License-Identifier: Apache-2.0
#include "bench/pipeline/compiled_case.h"

#include <vector>

#include "base/clock.h"
#include "pipeline/estimate/outline_of.h"

namespace coua::bench {
namespace {

using namespace pipeline;

constexpr std::size_t bundle_rules = 4096;

unsigned bits_of(isa set) { return set == isa::avx512 ? 512 : set == isa::avx2 ? 256 : 0; }

}  // namespace

result<std::unique_ptr<compiled_case>> compiled_case::create(const use_case& of,
                                                             std::optional<isa> instruction_set) {
  std::unique_ptr<compiled_case> made(new compiled_case);
  // Kernels are chosen when tables and executor are made.
  if (instruction_set) cap_simd_bits(bits_of(*instruction_set));
  const result<void> done = made->load(of);
  cap_simd_bits(512);
  if (!done) return tl::unexpected(done.error());
  return made;
}

result<void> compiled_case::load(const use_case& of) {
  auto bridge = running_bridge::create();
  if (!bridge) return tl::unexpected(bridge.error());
  bridge_ = std::move(*bridge);
  const std::uint64_t start = now_ns();
  std::vector<operation> bundle;
  for (unsigned number = 1; number <= of.n_ports(); ++number) {
    port one;
    one.number = number;
    bundle.emplace_back(port_mod{mod_command::add, one});
  }
  result<void> done;
  const auto apply = [&] {
    const auto applied = bridge_->apply(bundle, now_ns());
    if (!applied) done = tl::unexpected(to_error(applied.error()));
    bridge_->reclaim();
    bundle.clear();
  };
  of.each_rule([&](rule_mod each) {
    if (!done) return;
    bundle.emplace_back(std::move(each));
    if (bundle.size() == bundle_rules) apply();
  });
  if (done) apply();
  if (!done) return done;
  seconds_to_load_ = static_cast<double>(now_ns() - start) / 1e9;
  bridge_->tend(now_ns() + ns_per_s);  // as after a second without a change
  auto worker =
      executor::create(bridge_->compiler().published(), 0, bridge_->compiler().counts(0), copies_);
  if (!worker) return tl::unexpected(worker.error());
  worker_ = std::move(*worker);
  return {};
}

pipeline_outline compiled_case::outline() {
  bridge_->collect(now_ns());
  return outline_of(*bridge_);
}

std::string compiled_case::tables() const {
  std::string text;
  const auto form_of = [this](unsigned table) {
    return table > table_max ? nullptr : bridge_->compiler().form(static_cast<table_id>(table));
  };
  for (unsigned table = 0; table <= table_max; ++table) {
    const table_form* const form = form_of(table);
    if (form == nullptr) continue;
    const unsigned first = table;
    while (form_of(table + 1) != nullptr && form_of(table + 1)->kind() == form->kind()) ++table;
    text += (text.empty() ? "" : " ") + std::to_string(first);
    if (table != first) text += "-" + std::to_string(table);
    text += ":" + std::string(to_string(form->kind()));
  }
  if (const std::size_t n = bridge_->compiler().joined().n_pairs(); n != 0)
    text += ", " + std::to_string(n) + " joined";
  return text;
}

}  // namespace coua::bench
