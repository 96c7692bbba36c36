// SPDX-License-Identifier: Apache-2.0
#include "bench/limit/limit_command.h"

#include <algorithm>
#include <cstdio>

#include "base/size.h"
#include "base/system_memory.h"
#include "bench/harness/progress.h"
#include "bench/harness/stats.h"

namespace coua::bench {
namespace {

/// One row in the making: the best few readings of a block, and what they gave so far.
struct entrant {
  const arena* memory;
  page_kind asked;
  unsigned threads;
  hint where;
  std::vector<line_reader> readers;
  std::vector<std::vector<double>> rates;  // by reader
};

struct block {
  page_kind asked;
  arena memory;
};

/// Blocks of this size on the page kinds that the machine has. What it has not is said on stderr.
result<std::vector<block>> take(std::uint64_t bytes, std::span<const page_kind> kinds) {
  std::vector<block> blocks;
  for (const page_kind kind : kinds) {
    result<arena> memory = allocate(bytes, kind);
    if (memory) {
      blocks.push_back({kind, std::move(*memory)});
    } else if (kinds.size() == 1 || memory.error().code == errc::invalid) {
      return tl::unexpected(memory.error());
    } else {
      std::fprintf(stderr, "coua-bench: left out: %s\n", memory.error().message().c_str());
    }
  }
  return blocks;
}

class limit_run {
 public:
  limit_run(const limit_options& options, crew& people, report& out)
      : options_(options), people_(people), out_(out), progress_("limit") {}

  result<void> measure(std::uint64_t bytes) {
    // All page kinds side by side where memory allows, so that they share each moment.
    const std::uint64_t together = bytes * options_.pages.size();
    const std::span<const page_kind> all = options_.pages;
    const std::size_t at_once = together < available_memory(-1) / 10 * 8 ? all.size() : 1;
    for (std::size_t i = 0; i < all.size(); i += at_once) {
      result<std::vector<block>> blocks = take(bytes, all.subspan(i, at_once));
      if (!blocks) return tl::unexpected(blocks.error());
      measure_blocks(*blocks, bytes);
    }
    return {};
  }

  result<void> prepare(std::uint64_t largest) {
    for (unsigned i = 0; i < people_.size(); ++i) {
      result<sequence> made = sequence::create(sequence_words(largest));
      if (!made) return tl::unexpected(made.error());
      lines_.push_back(std::move(*made));
    }
    return {};
  }

 private:
  void fill(std::uint64_t bytes, std::uint64_t round) {
    people_.run(people_.size(), [&](unsigned thread) {
      lines_[thread].fill_lines(bytes, options_.run.seed + round * 64 + thread);
    });
  }

  void measure_blocks(const std::vector<block>& blocks, std::uint64_t bytes) {
    fill(bytes, 0);
    std::vector<entrant> entrants;
    for (const block& each : blocks) {
      for (const std::uint64_t threads : options_.threads) {
        for (const hint where : options_.hints) {
          progress_.step("distances for " + format_bytes(bytes));
          entrants.push_back(enter(each, static_cast<unsigned>(threads), where));
        }
      }
    }
    for (unsigned round = 0; round < options_.run.repetitions; ++round) {
      fill(bytes, round + 1);
      progress_.step(format_bytes(bytes));
      for (std::size_t i = 0; i < entrants.size(); ++i) {
        run_once(entrants[(i + round) % entrants.size()]);
      }
    }
    for (const entrant& each : entrants) out_.rows.push_back(finish(each, bytes));
  }

  entrant enter(const block& each, unsigned threads, hint where) {
    entrant made{&each.memory, each.asked, threads, where, {}, {}};
    const double short_window = std::min(options_.run.seconds / 10, 0.02);
    for (const reading& how :
         best_readings(people_, threads, each.memory.data(), lines_, where, short_window, 3)) {
      made.readers.emplace_back(each.memory.data(), how);
    }
    made.rates.resize(made.readers.size());
    return made;
  }

  void run_once(entrant& each) {
    for (std::size_t i = 0; i < each.readers.size(); ++i) {
      const double seconds = options_.run.seconds / static_cast<double>(each.readers.size());
      each.rates[i].push_back(
          run_window(people_, each.threads, each.readers[i], lines_, seconds).mops);
    }
  }

  static row finish(const entrant& each, std::uint64_t bytes) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < each.rates.size(); ++i) {
      if (median(each.rates[i]) > median(each.rates[best])) best = i;
    }
    const summary rate = summarise(each.rates[best]);
    row out;
    out.name = "limit";
    out.params = {{"size", bytes},
                  {"pages", pages_word(each.asked)},
                  {"threads", each.threads},
                  {"prefetch", to_string(each.where)}};
    out.set_rate(rate.median, each.threads);
    out.spread = rate.spread;
    out.more = {{"memory", to_string(each.memory->pages())},
                {"scheme", to_string(each.readers[best].how().how)},
                {"distance", each.readers[best].how().distance}};
    return out;
  }

  const limit_options& options_;
  crew& people_;
  report& out_;
  progress progress_;
  std::vector<sequence> lines_;
};

}  // namespace

result<report> run_limit(const limit_options& options) {
  report out;
  out.bench = "limit";
  out.params = {{"repetitions", options.run.repetitions},
                {"seconds", options.run.seconds},
                {"seed", options.run.seed}};
  result<std::unique_ptr<crew>> people = crew::create_for(options.threads);
  if (!people) return tl::unexpected(people.error());
  limit_run run(options, **people, out);
  const std::uint64_t largest = *std::max_element(options.sizes.begin(), options.sizes.end());
  if (const result<void> ready = run.prepare(largest); !ready) return tl::unexpected(ready.error());
  for (const std::uint64_t bytes : options.sizes) {
    if (const result<void> done = run.measure(bytes); !done) return tl::unexpected(done.error());
  }
  if (out.rows.empty()) {
    return fail(errc::no_memory, "--pages", "none of the page sizes is available");
  }
  return out;
}

}  // namespace coua::bench
