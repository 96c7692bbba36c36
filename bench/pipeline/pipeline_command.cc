// SPDX-License-Identifier: Apache-2.0
#include "bench/pipeline/pipeline_command.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/size.h"
#include "bench/cases/case_json.h"
#include "bench/harness/cpu_time.h"
#include "bench/harness/crew.h"
#include "bench/harness/progress.h"
#include "bench/harness/stats.h"
#include "bench/pipeline/case_replay.h"
#include "pipeline/estimate/calibrate.h"
#include "pipeline/estimate/estimate.h"

namespace coua::bench {
namespace {

/// One pipeline with flows through it, and what came out so far.
struct entrant {
  compiled_case* through = nullptr;
  const use_case* of = nullptr;
  const case_frames* frames = nullptr;
  std::optional<isa> simd;
  unsigned batch = 0;
  std::unique_ptr<case_replay> replay;
  std::size_t next_chunk = 0;
  pipeline::pipeline_outline outline;
  // Per packet, by repetition. ns: the difference; lower_ns, upper_ns: what the model says of it.
  std::vector<double> all_ns{}, copy_ns{}, ns{}, lower_ns{}, upper_ns{};
};

/// The same rules in one table and in several, which are compared.
bool are_of_one_split(const entrant& one, const entrant& other) {
  case_params a = one.of->params();
  const case_params& b = other.of->params();
  a.single_table = b.single_table;
  return to_json(a) == to_json(b) && one.simd == other.simd && one.batch == other.batch;
}

/// All pipelines with one number of rules, interleaved.
class pipeline_run {
 public:
  pipeline_run(const pipeline_options& options, crew& people, report& out)
      : options_(options), crew_(people), out_(out), progress_("pipeline") {}

  result<void> run(std::uint64_t rules) {
    entrants_.clear();
    frames_.clear();
    pipelines_.clear();
    cases_.clear();
    if (result<void> made = prepare(rules); !made) return made;
    for (unsigned round = 0; round < options_.run.repetitions; ++round) {
      if (result<void> done = estimate_all(); !done) return done;
      for (std::size_t i = 0; i < entrants_.size(); ++i) {
        entrant& each = entrants_[(i + round) % entrants_.size()];
        progress_.step(name_);
        result<void> done;
        crew_.run(1, [&](unsigned) { done = measure(each); });
        if (!done) return done;
      }
    }
    for (const entrant& each : entrants_) out_.rows.push_back(make_row(each));
    return {};
  }

 private:
  result<void> prepare(std::uint64_t rules) {
    for (const std::uint64_t flows : options_.flows) {
      if (result<void> made = make_cases(rules, flows); !made) return made;
    }
    std::vector<std::optional<isa>> sets = {std::nullopt};
    if (!options_.simd.empty()) sets.assign(options_.simd.begin(), options_.simd.end());
    for (const std::optional<isa>& simd : sets) {
      for (std::size_t way = 0; way < n_ways(); ++way) {
        // The flows make no difference to the rules.
        progress_.step("adding the rules");
        auto made = compiled_case::create(*cases_[way], simd);
        if (!made) return tl::unexpected(made.error());
        pipelines_.push_back(std::move(*made));
        for (std::size_t i = way; i < cases_.size(); i += n_ways()) {
          for (const std::uint64_t batch : options_.batches) {
            if (auto added = add(i, simd, static_cast<unsigned>(batch)); !added) return added;
          }
        }
      }
    }
    return {};
  }

  /// What is given as one table, and what of it is split by hand.
  std::size_t n_ways() const { return options_.which.single_table ? 2 : 1; }

  result<void> make_cases(std::uint64_t rules, std::uint64_t flows) {
    case_params params = options_.which;
    params.rules = rules;
    params.flows = flows;
    params.seed = options_.run.seed;
    for (std::size_t way = 0; way < n_ways(); ++way) {
      params.single_table = options_.which.single_table && way == 0;
      auto made = make_use_case(params);
      if (!made) return tl::unexpected(made.error());
      cases_.push_back(std::move(*made));
    }
    progress_.step("making " + format_count(flows) + " flows");
    auto frames = case_frames::create(*cases_.back());
    if (!frames) return tl::unexpected(frames.error());
    frames_.push_back(std::move(*frames));
    return {};
  }

  result<void> add(std::size_t which, std::optional<isa> simd, unsigned batch) {
    // They are the same, however the rules are given.
    const case_frames& frames = *frames_[which / n_ways()];
    auto replay = case_replay::create(*pipelines_.back(), frames, batch);
    if (!replay) return tl::unexpected(replay.error());
    progress_.step("checking");
    if (result<void> right = (*replay)->check(*cases_[which]); !right) return right;
    entrants_.push_back(
        {.through = pipelines_.back().get(),
         .of = cases_[which].get(),
         .frames = &frames,
         .simd = simd,
         .batch = batch,
         .replay = std::move(*replay),
         .outline = pipelines_.back()->outline()});  // with the packets that have just been checked
    return {};
  }

  /// For one round: of the machine as it is then, on the CPU that the packets are for.
  result<void> estimate_all() {
    result<pipeline::calibration> machine;
    crew_.run(1, [&](unsigned) { machine = pipeline::calibrate(); });
    if (!machine) return tl::unexpected(machine.error());
    for (entrant& each : entrants_) {
      const pipeline::cycle_range said = pipeline::estimate(each.outline, *machine).cycles;
      each.lower_ns.push_back(said.lower * 1e9 / cycles_hz());
      each.upper_ns.push_back(said.upper * 1e9 / cycles_hz());
    }
    return {};
  }

  /// Copies alone and the pipeline over the same chunks, next to each other.
  result<void> measure(entrant& each) {
    const std::size_t n_chunks = each.frames->chunks();
    const std::size_t from = each.next_chunk;
    std::size_t at = from;
    const auto next = [&] {
      const std::size_t chunk = at;
      at = at + 1 == n_chunks ? 0 : at + 1;
      return chunk;
    };
    bool right = true;
    const auto copy = [&] { each.replay->copy_chunk(next()); };
    const auto whole = [&] {
      const std::size_t chunk = next();
      if (each.replay->run_chunk(chunk, now_ns()) != each.frames->expected(chunk)) right = false;
    };
    for (std::size_t i = 0; i < std::min<std::size_t>(n_chunks, 4); ++i) whole();
    at = from;
    const double copy_ns = timed(copy);
    at = from;
    const double all_ns = timed(whole);
    each.next_chunk = at;
    if (!right) return fail(errc::io, name_, "packets were dropped, or left by the wrong port");
    each.copy_ns.push_back(copy_ns);
    each.all_ns.push_back(all_ns);
    each.ns.push_back(all_ns - copy_ns);
    return {};
  }

  /// Nanoseconds of each packet.
  template <typename Work>
  double timed(Work work) const {
    const auto length_ns = static_cast<std::uint64_t>(options_.run.seconds * 1e9);
    const std::uint64_t cpu_start = this_thread_cpu_ns();
    const std::uint64_t start = now_ns();
    std::uint64_t packets = 0;
    do {
      work();
      packets += case_frames::chunk_packets;
    } while (now_ns() - start < length_ns);
    return static_cast<double>(this_thread_cpu_ns() - cpu_start) / static_cast<double>(packets);
  }

  row make_row(const entrant& each) const {
    row one;
    one.name = name_;
    one.params = to_json(each.of->params());
    one.params["batch"] = each.batch;
    if (each.simd) one.params["simd"] = to_string(*each.simd);
    const summary ns = summarise(each.ns);
    // Where other programs held up the copying alone, nothing is left for the pipeline: no rate.
    if (ns.median > 0) {
      one.set_rate(1000 / ns.median);
      one.spread = ns.spread;
    }
    add_ratio_to_split(one, each);
    one.more["lower_ns"] = median(each.lower_ns);
    one.more["upper_ns"] = median(each.upper_ns);
    one.more["within"] = paired_ratio(each.ns, each.lower_ns).median >= 1 &&
                         paired_ratio(each.ns, each.upper_ns).median <= 1;
    one.more["window_ns"] = each.ns;
    one.more["window_lower_ns"] = each.lower_ns;
    one.more["window_upper_ns"] = each.upper_ns;
    one.more["copy_ns"] = median(each.copy_ns);
    one.more["with_copy_ns"] = median(each.all_ns);
    one.more["load_s"] = each.through->seconds_to_load();
    one.more["all_rules"] = each.through->n_rules();
    one.more["tables"] = each.through->tables();
    return one;
  }

  /// Of windows of one round: the rate of one table over that of the same rules split by hand.
  void add_ratio_to_split(row& to, const entrant& each) const {
    if (!each.of->params().single_table) return;
    const auto split = std::find_if(entrants_.begin(), entrants_.end(), [&](const entrant& other) {
      return !other.of->params().single_table && are_of_one_split(each, other);
    });
    const summary ratio = paired_ratio(split->ns, each.ns);
    if (ratio.median <= 0) return;
    to.more["ratio_to_split"] = ratio.median;
    to.put("ratio_spread", ratio.spread);
  }

  const pipeline_options& options_;
  crew& crew_;
  report& out_;
  progress progress_;
  const std::string name_ = "pipeline";
  // By number of flows; cases, of each first the one that was asked for.
  std::vector<std::unique_ptr<use_case>> cases_;
  std::vector<std::unique_ptr<case_frames>> frames_;
  std::vector<std::unique_ptr<compiled_case>> pipelines_;
  std::vector<entrant> entrants_;
};

void note_points_within(report& out) {
  std::size_t n = 0, n_within = 0;
  for (const row& each : out.rows) {
    if (!each.ns_per_op) continue;
    ++n;
    n_within += each.more.at("within").get<bool>() ? 1 : 0;
  }
  out.notes.push_back(std::to_string(n_within) + " of " + std::to_string(n) +
                      " points within the model's bounds");
}

}  // namespace

result<report> run_pipeline(const pipeline_options& options) {
  auto people = crew::create(1);
  if (!people) return tl::unexpected(people.error());
  report out;
  out.bench = "pipeline";
  out.params = {{"repetitions", options.run.repetitions},
                {"seconds", options.run.seconds},
                {"seed", options.run.seed}};
  pipeline_run run(options, **people, out);
  std::vector<std::uint64_t> rules = options.rules;
  if (rules.empty()) rules.push_back(default_rules(options.which.name));
  for (const std::uint64_t n : rules) {
    if (auto done = run.run(n); !done) return tl::unexpected(done.error());
  }
  note_points_within(out);
  return out;
}

}  // namespace coua::bench
