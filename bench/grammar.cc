// SPDX-License-Identifier: Apache-2.0
#include "bench/grammar.h"

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "base/cpu.h"
#include "bench/case_grammar.h"
#include "bench/classify/classify_command.h"
#include "bench/fib/peers.h"
#include "bench/flow/flow_peers.h"
#include "bench/grammar_parts.h"
#include "bench/rules/flows.h"
#include "bench/rules/mask_set.h"
#include "bench/setsep/setsep_grammar.h"
#include "coua/fib.h"

namespace coua::bench {
namespace {

CLI::App* add_limit(CLI::App& root, limit_options& out) {
  CLI::App* const app = root.add_subcommand(
      "limit", "Random reads of 64-byte lines per second: the ceiling of every table");
  sizes(*app, "--size", "Bytes of memory", {"8Mi", "64Mi", "1Gi"}, 4096, std::uint64_t{1} << 42,
        out.sizes);
  list(*app, "--pages", "Memory: auto, 1G, 2M (transparent if none are reserved), thp, 4K",
       {"auto"}, [&out](const words& given) {
         out.pages.clear();
         for (const std::string& word : given) out.pages.push_back(take(parse_pages(word)));
       });
  add_threads(*app, out.threads);
  choices<hint>(*app, "--prefetch", "Into which cache: t0 (first level), t1 (second)", {"t0", "t1"},
                {{"t0", hint::t0}, {"t1", hint::t1}}, out.hints);
  add_common(*app, out.run);
  return app;
}

CLI::App* add_fib(CLI::App& root, fib_options& out) {
  CLI::App* const app =
      root.add_subcommand("fib", "Look-ups per second of the FIB, beside the line limit");
  sizes(*app, "--entries", "Addresses in the table, all of them asked", {"16M"}, 64,
        std::uint64_t{1} << 40, out.entries);
  add_loads(*app, out.loads);
  add_modes(*app, out.modes);
  sizes(*app, "--batch", "Keys to a call", {"32"}, 1, chunk_keys, out.batches);
  sizes(*app, "--misses", "Percent of the keys that are not in the table", {"0"}, 0, 100,
        out.misses);
  add_threads(*app, out.threads);
  sizes(*app, "--updates", "Inserts and erases per second by a writer", {"0"}, 0, 100'000'000,
        out.updates);
  add_pairs(*app, "updates", out.pairs);
  app->add_option("--value-bits", out.value_bits,
                  "Width of a value, 1 to 24; 0: up to 16, as much as a table of that size packs")
      ->check(CLI::Range(0, 24))
      ->capture_default_str();
  app->add_option("--load-threads", out.load_threads, "Threads that fill our table; 0: all CPUs")
      ->check(CLI::Range(0, COUA_FIB_LOAD_THREADS_MAX))
      ->capture_default_str();
  app->add_option("--fills", out.fills, "Times that an empty table is filled by inserts, each way")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  static const std::map<std::string, coua_fib_layout> layouts = {
      {"auto", COUA_FIB_LAYOUT_AUTO},
      {"packed8", COUA_FIB_LAYOUT_PACKED8},
      {"packed4", COUA_FIB_LAYOUT_PACKED4},
      {"wide8", COUA_FIB_LAYOUT_WIDE8}};
  app->add_option("--layout", out.layout, "Of the slots: auto, packed8, packed4, wide8")
      ->transform(CLI::Transformer(layouts))
      ->option_text("WORD");
  add_pages(*app, out.pages);
  add_peers(*app, out.peers);
  add_common(*app, out.run);
  app->add_option("--figure", out.figure, "Of CuckooSwitch: 5, 6 or 7")
      ->check(CLI::IsMember({5U, 6U, 7U}));
  app->final_callback([app, &out] {
    std::erase(out.peers, "");  // what the option without a word leaves
    if (app->count("--peers") > 0 && out.peers.empty()) out.peers = peer_names();
    if (out.figure == 0) return;
    if (app->count("--entries") == 0) {
      out.entries = {64'000, 256'000, 1'000'000, 4'000'000, 16'000'000};
    }
    // The ports of a switch; with wider values a small table needs wide slots.
    if (app->count("--value-bits") == 0) out.value_bits = 10;
    if (out.figure == 5 && app->count("--batch") == 0) out.batches = {14};
    if (out.figure == 6 && app->count("--batch") == 0) out.batches = {1, 2, 4, 8, 14, 16, 32};
    if (out.figure != 7 && app->count("--mode") == 0) out.modes = {"batch"};
    if (out.figure == 7 && app->count("--peers") == 0) out.peers = peer_names();
  });
  return app;
}

std::vector<std::pair<std::string, flow_variant_word>> flow_variants() {
  std::vector<std::pair<std::string, flow_variant_word>> out;
  for (const auto& [word, variant] : {std::pair("bloom", COUA_FLOW_BLOOM),
                                      {"optimistic", COUA_FLOW_OPTIMISTIC},
                                      {"pessimistic", COUA_FLOW_PESSIMISTIC},
                                      {"horton", COUA_FLOW_HORTON}}) {
    for (const bool timers : {false, true}) {
      const std::string name = std::string(word) + (timers ? "-timer" : "");
      out.push_back({name, {name, variant, timers}});
    }
  }
  return out;
}

/// What a figure of the paper needs and the command line does not say.
void preset_flow_figure(const CLI::App& app, flow_options& out) {
  const auto preset = presets_of(app);
  const auto variants = [&preset, &out](const words& names) {
    std::vector<flow_variant_word> chosen;
    for (const auto& [word, variant] : flow_variants()) {
      if (std::find(names.begin(), names.end(), word) != names.end()) chosen.push_back(variant);
    }
    preset("--variants", out.variants, chosen);
  };
  const std::vector<std::uint64_t> all_misses = {0, 20, 40, 50, 60, 80, 100};
  const std::vector<std::uint64_t> all_capacities = {512 << 10, 32 << 20, 128 << 20};
  words rte_hash = flow_peer_names();
  rte_hash.resize(std::min<std::size_t>(rte_hash.size(), 1));
  const bool speed = out.figure == 3 || out.figure == 7 || out.figure == 8 || out.figure == 9;
  if (speed) preset("--peers", out.peers, rte_hash);
  if (speed && out.figure != 7) {
    preset("--mode", out.modes, out.figure == 8 ? words{"batch", "pipeline"} : words{"batch"});
    preset("--fills", out.fills, 1U);
  }
  if (out.figure != 0 || !out.table.empty()) preset("--capacity", out.capacities, all_capacities);
  if (out.figure == 2 || out.figure == 5 || out.table == "2") {
    std::vector<double> loads;
    for (unsigned percent = 5; percent <= 95; percent += 5) loads.push_back(percent / 100.0);
    loads.push_back(0.99);
    // Keys as short as they can be: what counts here does not depend on their width.
    preset("--key", out.key_bytes, 8U);
    preset("--value", out.value_bytes, 0U);
    if (out.figure != 2) loads = {0.6, 0.8, 0.95};
    preset("--load", out.loads, loads);
    variants(out.table == "2" ? words{"bloom", "horton"} : words{"bloom"});
  }
  if (out.table == "memory") {
    preset("--peers", out.peers, rte_hash);
    preset("--sync", out.syncs,
           std::vector<coua_flow_sync>{COUA_FLOW_SINGLE, COUA_FLOW_ONE_WRITER});
  }
  if (out.table == "1" || out.table == "memory") {
    words all;
    for (const auto& [word, variant] : flow_variants()) all.push_back(word);
    variants(all);
  }
  if (out.figure == 3) {
    preset("--load", out.loads, std::vector<double>{0.8});
    preset("--misses", out.misses, all_misses);
    variants({"optimistic", "pessimistic"});
  }
  if (out.figure == 7) {
    preset("--load", out.loads,
           std::vector<double>{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95});
    out.modes.clear();
  }
  if (out.figure == 8) {
    preset("--load", out.loads, std::vector<double>{0.6, 0.8, 0.95});
    preset("--misses", out.misses, all_misses);
  }
  if (out.figure == 9) {
    preset("--load", out.loads, std::vector<double>{0.8});
    preset("--misses", out.misses, std::vector<std::uint64_t>{20});
    std::vector<std::uint64_t> threads;
    for (std::uint64_t i = 1; i <= allowed_cpus().size(); ++i) threads.push_back(i);
    preset("--threads", out.threads, threads);
  }
}

/// What a figure or table of the paper that measures no look-ups is about, and the options that
/// change it beside those of every command.
struct flow_count {
  std::string what;
  words options;
};

std::optional<flow_count> count_of(const flow_options& chosen) {
  const words shape = {"--capacity", "--load", "--key",  "--value",
                       "--variants", "--sync", "--pages"};
  const auto and_also = [&shape](std::initializer_list<const char*> more) {
    words all = shape;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  if (chosen.figure == 2 || chosen.figure == 5) {
    return flow_count{"which counts entries by their bucket", shape};
  }
  if (chosen.figure == 7) {
    return flow_count{"which inserts and looks nothing up",
                      and_also({"--threads", "--fills", "--peers"})};
  }
  if (chosen.table == "1") return flow_count{"which counts lines of source", {"--variants"}};
  if (chosen.table == "2") return flow_count{"which counts false positives", shape};
  if (chosen.table == "memory") return flow_count{"which counts bytes", and_also({"--peers"})};
  return std::nullopt;
}

void refuse_with_flow_count(const CLI::App& app, const flow_options& chosen) {
  const std::optional<flow_count> counted = count_of(chosen);
  if (!counted) return;
  const std::string with = chosen.table.empty() ? "--figure " + std::to_string(chosen.figure)
                                                : "--table " + chosen.table;
  words kept = {"--figure", "--table", "--json", "--seconds", "--repetitions", "--seed"};
  kept.insert(kept.end(), counted->options.begin(), counted->options.end());
  for (const CLI::Option* const each : app.get_options()) {
    const std::string name = each->get_name();
    if (each->count() == 0 || std::find(kept.begin(), kept.end(), name) != kept.end()) continue;
    throw CLI::ValidationError(name, "has no meaning with " + with + ", " + counted->what);
  }
  const bool one_table = chosen.figure == 2 || chosen.figure == 5 || chosen.table == "2";
  if (one_table && chosen.syncs.size() > 1) {
    throw CLI::ValidationError("--sync", "takes one word with " + with);
  }
}

CLI::App* add_flow(CLI::App& root, flow_options& out) {
  CLI::App* const app = root.add_subcommand(
      "flow", "Inserts and look-ups per second of the flow table, beside the line limit");
  sizes(*app, "--capacity", "Slots of a table", {"32Mi"}, 64, std::uint64_t{1} << 35,
        out.capacities);
  add_loads(*app, out.loads);
  app->add_option("--key", out.key_bytes, "Bytes of a key")
      ->check(CLI::Range(4, 128))
      ->capture_default_str();
  app->add_option("--value", out.value_bytes, "Bytes of a value")
      ->check(CLI::Range(0, 64))
      ->capture_default_str();
  choices<flow_variant_word>(*app, "--variants", "Kinds of table; with timers as bloom-timer",
                             {"bloom", "bloom-timer", "optimistic", "pessimistic", "horton"},
                             flow_variants(), out.variants);
  choices<coua_flow_sync>(
      *app, "--sync", "Of one thread (single), or with readers (one-writer)", {"single"},
      {{"single", COUA_FLOW_SINGLE}, {"one-writer", COUA_FLOW_ONE_WRITER}}, out.syncs);
  add_modes(*app, out.modes);
  sizes(*app, "--batch", "Keys to a call", {"32"}, 1, chunk_keys, out.batches);
  sizes(*app, "--misses", "Percent of the keys that are not in the table", {"0", "20", "50", "100"},
        0, 100, out.misses);
  sizes(*app, "--threads", "Threads, each with tables and a CPU of its own", {"1"}, 1, 1024,
        out.threads);
  sizes(*app, "--churn", "Inserts and erases per second by a writer (with --sync one-writer)",
        {"0"}, 0, 100'000'000, out.churns);
  add_pairs(*app, "churn", out.pairs);
  app->add_option("--fills", out.fills, "Times that each table is filled; 0: --repetitions")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  add_pages(*app, out.pages);
  add_peers(*app, out.peers);
  add_common(*app, out.run);
  CLI::Option* const figure =
      app->add_option("--figure", out.figure, "Of Cuckoo++: 2, 3, 5, 7, 8 or 9")
          ->check(CLI::IsMember({2U, 3U, 5U, 7U, 8U, 9U}));
  app->add_option("--table", out.table, "Of Cuckoo++: 1, 2 or memory")
      ->check(CLI::IsMember({"1", "2", "memory"}))
      ->excludes(figure);
  app->final_callback([app, &out] {
    std::erase(out.peers, "");  // what the option without a word leaves
    if (app->count("--peers") > 0 && out.peers.empty()) out.peers = flow_peer_names();
    refuse_twice("--peers", out.peers);
    out.peers_asked = app->count("--peers") > 0;
    refuse_with_flow_count(*app, out);
    preset_flow_figure(*app, out);
    if (app->count("--peers") > 0 && out.peers.empty()) {
      throw CLI::ValidationError("--peers", "this build has none: it has no DPDK");
    }
  });
  return app;
}

CLI::App* add_classify(CLI::App& root, classify_options& out) {
  CLI::App* const app = root.add_subcommand(
      "classify", "Look-ups per second of the wildcard classifier, with and without distributor");
  app->add_option("--kind", out.kind, "Of rules: masks, acl, fw, ipc or openflow")
      ->check(CLI::IsMember({"masks", "acl", "fw", "ipc", "openflow"}))
      ->capture_default_str();
  sizes(*app, "--masks", "Masks, each with a rule (with --kind masks)",
        {"10", "20", "30", "100", "1000"}, 1, 4096, out.masks);
  sizes(*app, "--rules", "Rules (of the other kinds)", {"1K", "10K"}, 1, 1'000'000, out.rules);
  sizes(*app, "--flows", "Flows, each of them as likely", {"20K", "100K", "1M"}, 1,
        std::uint64_t{1} << 24, out.flows);
  choices<std::pair<std::string, coua_classifier_distributor>>(
      *app, "--distributor", "Whether hints are asked for", {"on", "off", "auto"},
      {{"on", {"on", COUA_DISTRIBUTOR_ON}},
       {"off", {"off", COUA_DISTRIBUTOR_OFF}},
       {"auto", {"auto", COUA_DISTRIBUTOR_AUTO}}},
      out.distributors);
  choices<bool>(*app, "--pruned", "Whether searches ask only masks that can match", {"yes", "no"},
                {{"yes", true}, {"no", false}}, out.pruned);
  app->add_option("--first", out.first_percent,
                  "Percent of the look-ups that go to one mask (with --kind masks)")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  sizes(*app, "--misses", "Percent of the flows that match no rule; sets then end in no default",
        {"0"}, 0, 100, out.misses);
  app->add_flag("--distinct", out.distinct,
                "Adds a rule that takes every bit, so that no two flows share a hint");
  add_simd(*app, out.simd);
  one_size(*app, "--batch", "Keys to a call", 1, chunk_keys, out.batch);
  add_peers(*app, out.peers);
  app->add_flag("--patch-table", out.patch_table,
                "The table of the Open vSwitch patch series: 10, 20 and 30 masks");
  add_common(*app, out.run);
  app->final_callback([app, &out] {
    take_peers(*app, classify_peer_names(), out.peers);
    check_simd(out.simd);
    if (out.first_percent != 0 && out.kind != "masks") {
      throw CLI::ValidationError("--first", "has a meaning with --kind masks only");
    }
    const bool any_misses = std::any_of(out.misses.begin(), out.misses.end(),
                                        [](std::uint64_t percent) { return percent != 0; });
    if (out.first_percent != 0 && any_misses) {
      throw CLI::ValidationError("--first", "all its flows match: it excludes --misses");
    }
    if (!out.patch_table) return;
    out.kind = "masks";
    if (app->count("--masks") == 0) out.masks = {10, 20, 30};
    if (app->count("--distributor") == 0) {
      out.distributors = {{"on", COUA_DISTRIBUTOR_ON}, {"off", COUA_DISTRIBUTOR_OFF}};
    }
    if (app->count("--pruned") == 0) out.pruned = {false};
    if (app->count("--simd") == 0) {
      for (const isa each : {isa::generic, isa::avx2, isa::avx512}) {
        if (each <= best_isa()) out.simd.push_back(each);
      }
    }
  });
  return app;
}

CLI::App* add_lpm(CLI::App& root, lpm_options& out) {
  CLI::App* const app =
      root.add_subcommand("lpm", "Look-ups and changes per second of tables of prefixes");
  choices<ip_family>(*app, "--family", "Addresses", {"ipv4", "ipv6"},
                     {{"ipv4", ip_family::ipv4}, {"ipv6", ip_family::ipv6}}, out.families);
  sizes(*app, "--prefixes", "Prefixes in the table, with lengths as in the Internet's",
        {"10K", "1M"}, 1, 5'000'000, out.prefixes);
  choices<unsigned>(*app, "--root", "Bits of the first table", {"8", "16"}, {{"8", 8}, {"16", 16}},
                    out.roots);
  one_size(*app, "--batch", "Keys to a call", 1, chunk_keys, out.batch);
  add_peers(*app, out.peers);
  add_common(*app, out.run);
  app->final_callback([app, &out] { take_peers(*app, lpm_peer_names(), out.peers); });
  return app;
}

CLI::App* add_plan(CLI::App& root, plan_options& out) {
  CLI::App* const app = root.add_subcommand(
      "plan", "Time that changes take in pipelines of many tables, without traffic");
  sizes(*app, "--tables", "Tables, in bridges of 250", {"250", "1000"}, 1, 10'000, out.tables);
  one_size(*app, "--rules", "Rules of a table", 1, 10'000, out.rules);
  app->add_option("--repetitions", out.run.repetitions, "Changes of each kind")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app->add_flag("--json", out.run.json, "Print one JSON object on stdout instead of a table");
  return app;
}

CLI::App* add_rules(CLI::App& root, rules_options& out) {
  CLI::App* const app =
      root.add_subcommand("rules", "Makes a rule set for a classifier: its figures, or its text");
  app->add_option("--kind", out.kind,
                  "acl, fw, ipc (5-tuples as ClassBench's), openflow, masks (each rule another)")
      ->required()
      ->check(CLI::IsMember({"acl", "fw", "ipc", "openflow", "masks"}));
  CLI::Option* const rules =
      one_size(*app, "--rules", "Rules, the default rule among them", 1, most_rules, out.rules);
  CLI::Option* const masks =
      one_size(*app, "--masks", "Of kind masks, as many as rules", 1, most_masks, out.masks);
  one_size(*app, "--flows", "Flows that are counted by how many rules they match", 1, most_flows,
           out.flows);
  app->add_option("--seed", out.run.seed, "Of the random choice of rules and flows")
      ->capture_default_str();
  CLI::Option* const text =
      app->add_flag("--text", out.text, "Print the rules, in the format of ClassBench");
  app->add_flag("--json", out.run.json, "Print one JSON object on stdout instead of a table")
      ->excludes(text);
  app->final_callback([&out, rules, masks] {
    const bool of_masks = out.kind == "masks";
    if ((of_masks ? rules : masks)->count() > 0) {
      throw CLI::ValidationError(of_masks ? "--rules" : "--masks",
                                 "has no meaning with --kind " + out.kind);
    }
  });
  return app;
}

CLI::App* add_plot(CLI::App& root, plot_options& out) {
  CLI::App* const app =
      root.add_subcommand("plot", "Draws what another subcommand printed with --json");
  app->add_option("FILE", out.input, "JSON file, or - for the standard input")->required();
  app->add_option("-o,--out", out.output, "Picture to write, .svg or .png; default: FILE.svg");
  app->add_option("--title", out.title, "Above the chart; none given: what the rows share");
  app->add_option("--y", out.field, "Field to draw; none given: the most telling one");
  app->add_flag("--page", out.in_page,
                "For an HTML page: as wide as its place, in its colours, with lying bars");
  return app;
}

/// CLI11 would say of a wrong word no more than that a subcommand is missing.
void check_subcommand(const CLI::App& root, int count, char** arguments) {
  const std::string word = count > 1 ? arguments[1] : "";
  if (root.get_option_no_throw(word) != nullptr) return;
  std::string all;
  for (const CLI::App* const each : root.get_subcommands({})) {
    if (each->get_name() == word) return;
    all += (all.empty() ? "" : ", ") + each->get_name();
  }
  throw CLI::RequiredError(
      (word.empty() ? "A subcommand is required" : word + " is no subcommand") + ": there are " +
          all,
      CLI::ExitCodes::RequiredError);
}

}  // namespace

request parse_command_line(int count, char** arguments) {
  CLI::App root("Measures Coua on this machine: tables, forwarding, the figures of the papers");
  root.require_subcommand(1);
  limit_options limit;
  fib_options fib;
  flow_options flow;
  classify_options classify;
  lpm_options lpm;
  pipeline_options pipeline;
  plan_options plan;
  setsep_options setsep;
  forward_options forward;
  stalls_options stalls;
  traffic_options traffic;
  rules_options rules;
  plot_options plot;
  try {
    const CLI::App* const is_limit = add_limit(root, limit);
    const CLI::App* const is_fib = add_fib(root, fib);
    const CLI::App* const is_flow = add_flow(root, flow);
    const CLI::App* const is_classify = add_classify(root, classify);
    const CLI::App* const is_lpm = add_lpm(root, lpm);
    const CLI::App* const is_pipeline = add_pipeline(root, pipeline);
    const CLI::App* const is_plan = add_plan(root, plan);
    const CLI::App* const is_setsep = add_setsep(root, setsep);
    const CLI::App* const is_forward = add_forward(root, forward);
    const CLI::App* const is_stalls = add_stalls(root, stalls);
    const CLI::App* const is_traffic = add_traffic(root, traffic);
    const CLI::App* const is_rules = add_rules(root, rules);
    add_plot(root, plot);
    check_subcommand(root, count, arguments);
    root.parse(count, arguments);
    if (is_limit->parsed()) return limit;
    if (is_fib->parsed()) return fib;
    if (is_flow->parsed()) return flow;
    if (is_classify->parsed()) return classify;
    if (is_lpm->parsed()) return lpm;
    if (is_pipeline->parsed()) return pipeline;
    if (is_plan->parsed()) return plan;
    if (is_setsep->parsed()) return setsep;
    if (is_forward->parsed()) return forward;
    if (is_stalls->parsed()) return stalls;
    if (is_traffic->parsed()) return traffic;
    if (is_rules->parsed()) return rules;
    return plot;
  } catch (const CLI::ParseError& wrong) {
    const int code = root.exit(wrong);
    return code == 0 ? 0 : 2;
  }
}

}  // namespace coua::bench
