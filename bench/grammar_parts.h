// SPDX-License-Identifier: Apache-2.0
//
// Options that more than one subcommand has, and how words become values.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/cpu.h"
#include "bench/harness/options.h"

namespace coua::bench {

using words = std::vector<std::string>;

/// Parsing errors become those of the grammar, which name the option.
template <typename T>
T take(result<T> value) {
  if (!value) throw CLI::ValidationError(value.error().where, value.error().what);
  return std::move(*value);
}

/// What is measured twice would give rows that nothing tells apart.
inline void refuse_twice(const std::string& option, words given) {
  std::sort(given.begin(), given.end());
  const auto twice = std::adjacent_find(given.begin(), given.end());
  if (twice != given.end()) throw CLI::ValidationError(option, "names " + *twice + " twice");
}

inline CLI::Option* list(CLI::App& app, const std::string& name, const std::string& text,
                         words preset, std::function<void(const words&)> use) {
  // The preset goes through the same check as what the user writes.
  use(preset);
  use = [name, use = std::move(use)](const words& given) {
    refuse_twice(name, given);
    use(given);
  };
  CLI::Option* const option =
      app.add_option_function<words>(name, std::move(use), text)->delimiter(',')->expected(1, -1);
  std::string shown;
  for (const std::string& each : preset) shown += (shown.empty() ? "" : ",") + each;
  return option->default_str(shown)->type_name("LIST");
}

inline CLI::Option* sizes(CLI::App& app, const std::string& name, const std::string& text,
                          words preset, std::uint64_t least, std::uint64_t most,
                          std::vector<std::uint64_t>& out) {
  return list(app, name, text, std::move(preset), [name, least, most, &out](const words& given) {
    out = take(parse_sizes(name, given, least, most));
  });
}

/// One of several words, as a list of what each stands for.
template <typename T>
CLI::Option* choices(CLI::App& app, const std::string& name, const std::string& text, words preset,
                     std::vector<std::pair<std::string, T>> known, std::vector<T>& out) {
  return list(app, name, text, std::move(preset), [name, known, &out](const words& given) {
    out.clear();
    for (const std::string& word : given) {
      std::string all;
      const std::size_t before = out.size();
      for (const auto& [each, value] : known) {
        if (each == word) out.push_back(value);
        all += (all.empty() ? "" : ", ") + each;
      }
      if (out.size() == before) {
        throw CLI::ValidationError(name + " " + word, "must be of " + all);
      }
    }
  });
}

inline void add_common(CLI::App& app, run_options& run) {
  app.add_flag("--json", run.json, "Print one JSON object on stdout instead of a table");
  app.add_option("--seconds", run.seconds, "Length of a timed window")
      ->check(CLI::Range(0.001, 60.0))
      ->capture_default_str();
  app.add_option("--repetitions", run.repetitions, "Windows of each row, interleaved")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--seed", run.seed, "Of the random choice of keys")->capture_default_str();
}

inline void add_threads(CLI::App& app, std::vector<std::uint64_t>& out) {
  sizes(app, "--threads", "Reading threads, each on a CPU of its own", {"1"}, 1, 1024, out);
}

/// `what` the windows of a pair are with, and without.
inline void add_pairs(CLI::App& app, const std::string& what, unsigned& out) {
  app.add_option("--pairs", out, "Paired windows with and without " + what)
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
}

/// For what a figure of a paper takes where the command line does not say: f(option, field, value).
inline auto presets_of(const CLI::App& app) {
  return [&app](const char* option, auto& field, std::remove_reference_t<decltype(field)> value) {
    if (app.count(option) == 0) field = std::move(value);
  };
}

/// Instruction sets, each with a row of its own; check_simd() afterwards.
inline void add_simd(CLI::App& app, std::vector<isa>& out) {
  choices<isa>(app, "--simd", "Instruction sets, a row each; none given: the best alone", {},
               {{"generic", isa::generic}, {"avx2", isa::avx2}, {"avx512", isa::avx512}}, out);
}

/// A row of an instruction set that the machine lacks would measure another one.
inline void check_simd(const std::vector<isa>& given) {
  for (const isa each : given)
    if (each > best_isa())
      throw CLI::ValidationError(
          std::string("--simd ") + to_string(each),
          "this machine has no more than " + std::string(to_string(best_isa())));
}

inline void add_pages(CLI::App& app, page_kind& out) {
  list(app, "--pages", "Memory: auto, 1G, 2M (transparent if none are reserved), thp, 4K", {"auto"},
       [&out](const words& given) {
         if (given.size() != 1) throw CLI::ValidationError("--pages", "takes one word here");
         out = take(parse_pages(given[0]));
       });
}

inline void add_loads(CLI::App& app, std::vector<double>& out) {
  list(app, "--load", "Share of the slots that are filled, 0.05 to 0.99", {"0.95"},
       [&out](const words& given) {
         out.clear();
         for (const std::string& word : given) {
           double load = 0;
           if (!CLI::detail::lexical_cast(word, load) || load < 0.05 || load > 0.99) {
             throw CLI::ValidationError("--load " + word, "must be 0.05 to 0.99");
           }
           out.push_back(load);
         }
       });
}

inline void add_modes(CLI::App& app, words& out) {
  choices<std::string>(app, "--mode",
                       "Look-up calls: batch, ahead (the next batch is given), pipeline",
                       {"batch", "ahead", "pipeline"},
                       {{"batch", "batch"}, {"ahead", "ahead"}, {"pipeline", "pipeline"}}, out);
}

inline void add_peers(CLI::App& app, words& out) {
  app.add_option("--peers", out, "Compare with all other tables, or with these")
      ->expected(0, -1)
      ->delimiter(',')
      ->type_name("LIST");
}

/// Of a command with one table to compare with, which DPDK has.
inline void take_peers(const CLI::App& app, const words& known, words& out) {
  std::erase(out, "");  // what the option without a word leaves
  if (app.count("--peers") > 0 && out.empty()) out = known;
  for (const std::string& peer : out) {
    if (known.empty()) {
      throw CLI::ValidationError("--peers " + peer, "there are only in a build with DPDK");
    }
    if (peer != known.front()) {
      throw CLI::ValidationError("--peers " + peer, "must be " + known.front());
    }
  }
}

/// One size where the option takes no list.
inline CLI::Option* one_size(CLI::App& app, const std::string& name, const std::string& text,
                             std::uint64_t least, std::uint64_t most, std::uint64_t& out) {
  const std::string preset = std::to_string(out);
  return app
      .add_option_function<std::string>(
          name,
          [name, least, most, &out](const std::string& word) {
            out = take(parse_sizes(name, {word}, least, most)).front();
          },
          text)
      ->default_str(preset);
}

}  // namespace coua::bench
