// SPDX-License-Identifier: Apache-2.0
//
// Subcommands that run the use cases of bench/cases: they choose one by the same options.
#include "bench/case_grammar.h"

#include <algorithm>
#include <memory>

#include "base/cpu.h"
#include "bench/cases/use_case.h"
#include "bench/forward/frame_loop.h"
#include "bench/grammar_parts.h"
#include "bench/rules/mask_set.h"
#include "pipeline/datapath/executor.h"

namespace coua::bench {
namespace {

/// Of the case classify, what --rules is of others.
void add_masks(CLI::App& app, std::vector<std::uint64_t>& out) {
  sizes(app, "--masks", "Masks, each with a rule (with --case classify); none given: 20", {}, 1,
        most_masks, out);
}
void take_masks(const CLI::App& app, const std::string& name, std::vector<std::uint64_t>& masks,
                std::vector<std::uint64_t>& rules) {
  if (name != "classify") {
    if (!masks.empty()) {
      throw CLI::ValidationError("--masks", "has no meaning with --case " + name);
    }
    return;
  }
  if (app.count("--rules") > 0) {
    throw CLI::ValidationError("--rules", "of --case classify are as many as --masks");
  }
  rules = masks.empty() ? std::vector{default_rules(name)} : std::move(masks);
}

/// What chooses between the variants of a case, beside its numbers of rules and flows.
void add_case_variants(CLI::App& app, case_params& out) {
  app.add_flag("--single-table", out.single_table,
               "The load balancer as one table (with --case lb)");
  app.add_option_function<std::string>(
         "--users",
         [&out](const std::string& word) {
           out.users = take(parse_sizes("--users", {word}, 1, most_users)).front();
         },
         "Of each of ten customer end points of a gateway; none given: 20, of gateway-1m 100K")
      ->type_name("N");
  static const std::map<std::string, flow_direction> directions = {
      {"up", flow_direction::up}, {"down", flow_direction::down}, {"both", flow_direction::both}};
  app.add_option("--direction", out.direction,
                 "Of a gateway's packets: up (from the users), down or both; none given: up")
      ->transform(CLI::Transformer(directions))
      ->option_text("WORD");
}

CLI::Option* add_case(CLI::App& app, case_params& out) {
  words all = case_names();
  all.insert(all.begin(), l2_traffic::case_name);
  return app
      .add_option("--case", out.name,
                  "l2, the learning switch; l2-flows, l3, vrf, lb, gateway, gateway-1m or "
                  "classify, pipelines")
      ->check(CLI::IsMember(all))
      ->capture_default_str();
}

/// Refuses each of these options that was given.
void refuse_with_case(const CLI::App& app, const case_params& which,
                      std::initializer_list<const char*> options) {
  for (const char* each : options) {
    if (app.count(each) == 0) continue;
    throw CLI::ValidationError(each, "has no meaning with --case " + which.name);
  }
}

void add_measure(CLI::App& app, forward_options& out) {
  static const std::map<std::string, forward_measure> words = {
      {"rate", forward_measure::rate},
      {"cold-start", forward_measure::cold_start},
      {"latency", forward_measure::latency}};
  app.add_option(
         "--measure", out.measure,
         "rate, in the long run; cold-start, the first windows (--windows of --seconds) in which "
         "packets of unknown flows come; or latency, the time of a packet at half of the peak "
         "rate; none given: rate")
      ->transform(CLI::Transformer(words))
      ->option_text("WORD");
  app.add_option("--windows", out.windows, "Windows of a cold start (with --measure cold-start)")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
}

/// Of a measurement that is not of rates: what it is when it is not given, and what it does not
/// take.
void preset_measure(const CLI::App& app, forward_options& out) {
  for (const char* each :
       {"--updates", "--pairs", "--sources", "--figure", "--table", "--attack"}) {
    if (app.count(each) == 0) continue;
    throw CLI::ValidationError(each, "has no meaning with --measure");
  }
  if (app.count("--case") == 0) out.which.name = "gateway";
  if (out.which.name == l2_traffic::case_name)
    throw CLI::ValidationError("--measure", "has no meaning with --case " + out.which.name);
  out.testpmd = false;
  const bool cold = out.measure == forward_measure::cold_start;
  if (!cold && app.count("--feed") != 0)
    throw CLI::ValidationError("--feed", "has no meaning with --measure latency");
  // As a switch has them that takes packets from anywhere.
  if (!cold && app.count("--mbuf-bytes") == 0) out.mbuf_bytes = 2048;
  if (app.count("--flows") == 0) out.flows = {cold ? 100'000U : 10'000U};
  if (app.count("--seconds") == 0) out.run.seconds = 1;
  if (app.count("--repetitions") == 0) out.run.repetitions = cold ? 3 : 5;
}

/// net_pcap spreads a frame over several packets where one has no room.
void check_room(const forward_options& out) {
  const std::uint64_t size = *std::max_element(out.sizes.begin(), out.sizes.end());
  const std::size_t room = frame_loop::room_for(size - 4);
  if (out.feed == packet_feed::pcap || out.mbuf_bytes == 0 || out.mbuf_bytes >= room) return;
  throw CLI::ValidationError("--mbuf-bytes " + std::to_string(out.mbuf_bytes),
                             "frames of " + std::to_string(size) + " bytes need " +
                                 std::to_string(room) + " (--feed pcap takes less)");
}

/// It is of one case.
void check_measure(const forward_options& out) {
  for (const auto& [option, list] :
       {std::pair("--rules", &out.rules), {"--flows", &out.flows}, {"--size", &out.sizes}}) {
    if (list->size() > 1) throw CLI::ValidationError(option, "takes one number with --measure");
  }
  if (out.measure != forward_measure::latency) return;
  if (out.sizes.front() != 64)
    throw CLI::ValidationError("--size", "with --measure latency all frames have 64 bytes");
  if (out.workers != 1)
    throw CLI::ValidationError("--workers", "with --measure latency there is one worker");
}

}  // namespace

CLI::App* add_pipeline(CLI::App& root, pipeline_options& out) {
  CLI::App* const app = root.add_subcommand(
      "pipeline", "Packets per second of compiled pipelines of OpenFlow tables, without ports");
  app->add_option("--case", out.which.name,
                  "l2-flows, l3, vrf, lb, gateway, gateway-1m or classify")
      ->check(CLI::IsMember(case_names()))
      ->capture_default_str();
  app->add_option_function<words>(
         "--rules",
         [&out](const words& given) {
           out.rules = take(parse_sizes("--rules", given, 1, most_case_rules));
         },
         "Addresses, prefixes or services; none given: 1K, 2K, 100, of gateways 10K")
      ->delimiter(',')
      ->expected(1, -1)
      ->type_name("LIST");
  auto masks = std::make_shared<std::vector<std::uint64_t>>();
  add_masks(*app, *masks);
  sizes(*app, "--flows", "Flows, each of them as likely", {"1K"}, 1, most_case_flows, out.flows);
  app->add_option("--size", out.which.size, "Bytes of a frame, with the check sequence")
      ->check(CLI::Range(64, 1518))
      ->capture_default_str();
  sizes(*app, "--batch", "Packets to a burst", {"64"}, 1, pipeline::executor::burst_max,
        out.batches);
  add_simd(*app, out.simd);
  add_case_variants(*app, out.which);
  add_common(*app, out.run);
  app->final_callback([app, &out, masks] {
    take_masks(*app, out.which.name, *masks, out.rules);
    check_simd(out.simd);
    take(complete(out.which));
  });
  return app;
}

CLI::App* add_forward(CLI::App& root, forward_options& out) {
  CLI::App* const app = root.add_subcommand(
      "forward", "Packets per second of the switch, beside raw I/O and testpmd on the same ports");
  add_case(*app, out.which);
  constexpr std::uint64_t most = std::uint64_t{1} << 40;
  sizes(*app, "--rules",
        "Addresses in the FIB; of other cases addresses, prefixes or services, and by default as "
        "many as `pipeline` has",
        {"1K"}, 1, most, out.rules);
  app->add_option_function<words>(
         "--flows",
         [&out](const words& given) {
           out.flows = take(parse_sizes("--flows", given, 1, std::uint64_t{1} << 28));
         },
         "Destinations, spread over all of them; none given: all, up to 1M. Of other cases flows; "
         "none given: 1K")
      ->delimiter(',')
      ->expected(1, -1)
      ->type_name("LIST");
  auto masks = std::make_shared<std::vector<std::uint64_t>>();
  add_masks(*app, *masks);
  sizes(*app, "--attack",
        "Percent of the flows that aim at the masks that cost most, while the others are of one "
        "mask in a hundred (with --case classify)",
        {}, 0, most_attack, out.attacks);
  sizes(*app, "--size", "Bytes of a frame, with the check sequence", {"64"}, 64, 1518, out.sizes);
  sizes(*app, "--updates", "Erases and inserts per second, in the FIB or of rules", {"0"}, 0,
        100'000'000, out.updates);
  one_size(*app, "--sources", "Hosts that send (with --case l2)", 1, std::uint64_t{1} << 28,
           out.sources);
  app->add_option("--workers", out.workers, "Worker threads, each on a CPU of its own")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  add_pairs(*app, "updates", out.pairs);
  app->add_option("--burst", out.burst, "Packets to a receive burst")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  static const std::map<std::string, packet_feed> feeds = {{"memory", packet_feed::memory},
                                                           {"pcap", packet_feed::pcap}};
  app->add_option("--feed", out.feed,
                  "Where packets come from: memory, frames one after the other; or pcap, net_pcap, "
                  "which fetches each from a packet of its own; none given: memory")
      ->transform(CLI::Transformer(feeds))
      ->option_text("WORD");
  app->add_option("--mbuf-bytes", out.mbuf_bytes, "Data room of a packet buffer; 0: fits the frame")
      ->check(CLI::Range(0, 65000))
      ->capture_default_str();
  app->add_flag("!--no-testpmd", out.testpmd, "Leave testpmd out");
  add_measure(*app, out);
  choices<ovs_caches>(*app, "--peer",
                      "Beside Open vSwitch with the same rules (not with --case l2): ovs, with its "
                      "exact-match cache; ovs-smc, its signature match cache; ovs-none, neither",
                      {},
                      {{"ovs", ovs_caches::exact_match},
                       {"ovs-smc", ovs_caches::signature_match},
                       {"ovs-none", ovs_caches::none}},
                      out.ovs);
  CLI::Option* const figure = app->add_option("--figure", out.figure, "Of CuckooSwitch: 8, 9 or 10")
                                  ->check(CLI::IsMember({8U, 9U, 10U}));
  app->add_option("--table", out.table, "Of CuckooSwitch: 2 or 3")
      ->check(CLI::IsMember({2U, 3U}))
      ->excludes(figure);
  add_case_variants(*app, out.which);
  add_common(*app, out.run);
  app->final_callback([app, &out, masks] {
    if (out.measure != forward_measure::rate) preset_measure(*app, out);
    take_masks(*app, out.which.name, *masks, out.rules);
    if (out.which.name == l2_traffic::case_name) {
      refuse_with_case(*app, out.which,
                       {"--single-table", "--users", "--direction", "--peer", "--attack"});
    } else {
      refuse_with_case(*app, out.which, {"--sources", "--figure", "--table"});
      if (out.which.name != "classify") refuse_with_case(*app, out.which, {"--attack"});
      if (out.which.direction == flow_direction::both) {
        throw CLI::ValidationError("--direction both",
                                   "there is one source of packets: up or down");
      }
      out.which = take(complete(out.which));
      if (app->count("--rules") + app->count("--masks") == 0)
        out.rules = {default_rules(out.which.name)};
      if (out.flows.empty()) out.flows = {1000};
    }
    if (out.measure != forward_measure::rate) check_measure(out);
    if (out.measure != forward_measure::cold_start && app->count("--windows") > 0)
      throw CLI::ValidationError("--windows", "has no meaning without --measure cold-start");
    const auto preset = presets_of(*app);
    if (out.figure == 8 || out.figure == 9) {
      preset("--rules", out.rules, {64'000, 256'000, 1'000'000, 4'000'000, 16'000'000});
    }
    if (out.figure == 10) {
      preset("--rules", out.rules, {2'000'000});
      preset("--updates", out.updates, {0, 64'000, 128'000, 256'000, 512'000});
    }
    if (out.table == 2) preset("--size", out.sizes, {64, 128, 192, 256, 512, 1024, 1280, 1518});
    if (out.table == 3) {
      preset("--rules", out.rules,
             {32'000'000, 64'000'000, 125'000'000, 250'000'000, 500'000'000, 1'000'000'000});
    }
    if (out.measure != forward_measure::latency) check_room(out);
  });
  return app;
}

CLI::App* add_traffic(CLI::App& root, traffic_options& out) {
  CLI::App* const app = root.add_subcommand(
      "traffic",
      "Writes packet files, and the addresses for `coua fib load` or the rules for them");
  add_case(*app, out.which);
  constexpr std::uint64_t most = std::uint64_t{1} << 40;
  one_size(*app, "--rules", "Addresses; of other cases prefixes or services", 1, most,
           out.traffic.rules);
  auto masks = std::make_shared<std::vector<std::uint64_t>>();
  add_masks(*app, *masks);
  one_size(*app, "--flows", "Frames, each to another of them; of other cases any number", 1, most,
           out.traffic.flows);
  one_size(*app, "--sources", "Hosts that send (with --case l2)", 1, most, out.traffic.sources);
  app->add_option("--size", out.traffic.size, "Bytes of a frame, with the check sequence")
      ->check(CLI::Range(64, 1518))
      ->capture_default_str();
  app->add_option("--vlan", out.traffic.vlan, "Of the addresses (with --case l2)")
      ->check(CLI::Range(1, 4094))
      ->capture_default_str();
  app->add_option("--port", out.port, "Of the addresses (with --case l2)")->capture_default_str();
  app->add_option("--out", out.out,
                  "Packet file to write; of other cases a folder, for rules.txt and "
                  "traffic-PORT.pcap");
  app->add_option("--addresses", out.addresses,
                  "File of 'VLAN MAC PORT' lines to write (with --case l2)");
  one_size(*app, "--packets", "In random order (not of l2); 0: one of each flow", 1,
           std::uint64_t{1} << 32, out.packets);
  add_case_variants(*app, out.which);
  app->add_option("--seed", out.which.seed, "Of prefixes and of the order of packets")
      ->capture_default_str();
  app->add_flag("--json", out.run.json, "Print one JSON object on stdout instead of a table");
  app->final_callback([app, &out, masks] {
    std::vector<std::uint64_t> rules;
    if (masks->size() > 1) throw CLI::ValidationError("--masks", "takes one number here");
    take_masks(*app, out.which.name, *masks, rules);
    if (!rules.empty()) out.which.rules = rules.front();
    if (out.which.name == l2_traffic::case_name) {
      refuse_with_case(*app, out.which, {"--packets", "--single-table", "--users", "--direction"});
      out.traffic.seed = out.which.seed;
      return;
    }
    refuse_with_case(*app, out.which, {"--sources", "--vlan", "--port", "--addresses"});
    if (out.out.empty()) throw CLI::ValidationError("--out", "name a folder for the files");
    if (app->count("--rules") > 0) out.which.rules = out.traffic.rules;
    out.which.flows = out.traffic.flows;
    out.which.size = out.traffic.size;
    out.which = take(complete(out.which));
  });
  return app;
}

}  // namespace coua::bench
