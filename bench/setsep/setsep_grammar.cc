// SPDX-License-Identifier: Apache-2.0
#include "bench/setsep/setsep_grammar.h"

#include <algorithm>

#include "base/cpu.h"
#include "bench/grammar_parts.h"
#include "bench/setsep/setsep_peers.h"

namespace coua::bench {
namespace {

std::vector<std::pair<std::string, setsep::layout>> setsep_configs() {
  return {{"16+8", {1, 2, 1}}, {"8+16", {1, 1, 2}}, {"16+16", {1, 2, 2}}};
}

/// What a figure of the paper needs and the command line does not say.
void preset_setsep_figure(const CLI::App& app, setsep_options& out) {
  const auto preset = presets_of(app);
  using numbers = std::vector<std::uint64_t>;
  const std::uint64_t cpus = allowed_cpus().size();
  if (out.table == 1) {
    preset("--keys", out.keys, numbers{64'000'000});
    std::vector<setsep::layout> all;
    for (const auto& [word, shape] : setsep_configs()) all.push_back(shape);
    preset("--config", out.configs, all);
    preset("--value-bits", out.value_bits, numbers{1, 2, 3, 4});
    numbers threads;
    for (std::uint64_t n = 1; n <= std::min<std::uint64_t>(cpus, 256); n *= 2) threads.push_back(n);
    preset("--threads", out.threads, threads);
  }
  if (out.figure == 7) {
    numbers keys = {500'000};
    for (std::uint64_t n = 1'000'000; n <= 64'000'000; n *= 2) keys.push_back(n);
    preset("--keys", out.keys, keys);
    preset("--value-bits", out.value_bits, numbers{2});
    preset("--batch", out.batches, numbers{1, 2, 4, 8, 17, 32});
  }
  if (out.figure != 0)
    preset("--threads", out.threads, numbers{std::min<std::uint64_t>(cpus, 256)});
}

/// Options that such a figure or table has no use for.
void refuse_with_setsep_figure(const CLI::App& app, const setsep_options& out) {
  const auto refuse = [&app](const char* with, std::initializer_list<const char*> options) {
    for (const char* each : options) {
      if (app.count(each) != 0)
        throw CLI::ValidationError(each, std::string("has no meaning with ") + with);
    }
  };
  if (out.table == 1)
    refuse("--table 1, which makes tables only", {"--batch", "--simd", "--peers"});
  if (out.figure == 7) refuse("--figure 7", {"--simd", "--peers"});
  if (out.figure == 11) {
    refuse("--figure 11, which has no clock",
           {"--batch", "--simd", "--peers", "--config", "--value-bits"});
  }
}

}  // namespace

CLI::App* add_setsep(CLI::App& root, setsep_options& out) {
  CLI::App* const app =
      root.add_subcommand("setsep", "Set separation: how fast it is made and asked, and its size");
  sizes(*app, "--keys", "Keys", {"4M"}, 1, std::uint64_t{1} << 32, out.keys);
  sizes(*app, "--value-bits", "Bits of a value", {"1", "2", "4"}, 1, setsep::value_bits_max,
        out.value_bits);
  choices<setsep::layout>(*app, "--config", "Bits of the index of a function + bits of its array",
                          {"16+8"}, setsep_configs(), out.configs);
  sizes(*app, "--threads", "That make a table, and that ask it, each on a CPU of its own", {"1"}, 1,
        256, out.threads);
  sizes(*app, "--batch", "Keys to a call", {"32"}, 1, 1 << 20, out.batches);
  add_simd(*app, out.simd);
  add_peers(*app, out.peers);
  add_common(*app, out.run);
  CLI::Option* const figure = app->add_option("--figure", out.figure, "Of ScaleBricks: 7 or 11")
                                  ->check(CLI::IsMember({7U, 11U}));
  app->add_option("--table", out.table, "Of ScaleBricks: 1")
      ->check(CLI::IsMember({1U}))
      ->excludes(figure);
  app->final_callback([app, &out] {
    std::erase(out.peers, "");  // what the option without a word leaves
    if (app->count("--peers") > 0 && out.peers.empty()) out.peers = setsep_peer_names();
    check_simd(out.simd);
    refuse_with_setsep_figure(*app, out);
    preset_setsep_figure(*app, out);
  });
  return app;
}

}  // namespace coua::bench
