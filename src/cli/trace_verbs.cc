// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "cli/session.h"
#include "net/pcap_file.h"

namespace coua::cli {
namespace {

std::string hex(const std::string& bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string made;
  for (const char each : bytes) {
    const auto byte = static_cast<unsigned char>(each);
    made += digits[byte >> 4];
    made += digits[byte & 15];
  }
  return made;
}

/// Headers are at the front, so what was kept of a frame mostly goes the way of the whole one.
void tell_if_cut(const std::string& path, std::uint64_t number, const net::pcap_record& record) {
  if (record.frame.size() == record.wire_bytes) return;
  std::fprintf(
      stderr,
      "coua: %s: record %llu is cut: %s of %s bytes are there; they are traced as a frame of "
      "their own, without the headers that the others may have\n",
      path.c_str(), static_cast<unsigned long long>(number), grouped(record.frame.size()).c_str(),
      grouped(record.wire_bytes).c_str());
}

/// A record of a packet file, as the daemon takes packets.
result<std::string> read_record(const std::string& path, std::uint64_t number) {
  auto file = net::pcap_reader::open(path);
  if (!file) return tl::unexpected(file.error());
  for (;;) {
    auto record = file->next();
    if (!record) return tl::unexpected(record.error());
    if (!*record) break;
    if (file->records() == number) {
      if ((*record)->frame.empty()) {
        return fail(errc::invalid, path, "record " + std::to_string(number) + " has no bytes");
      }
      tell_if_cut(path, number, **record);
      return hex({(*record)->frame.begin(), (*record)->frame.end()});
    }
  }
  return fail(errc::not_found, path,
              "it has " + std::to_string(file->records()) + " records, none of number " +
                  std::to_string(number));
}

result<std::string> take_packet(const session& s) {
  if (s.call.has("PACKET") == s.call.has("pcap")) {
    return s.misuse("give either PACKET or --pcap FILE, behind the bridge's name");
  }
  std::string text;
  if (s.call.has("pcap")) {
    auto record =
        read_record(s.call.text("pcap"), s.call.has("record") ? s.call.number("record") : 1);
    if (!record) return record;
    text = std::move(*record);
  } else {
    if (s.call.has("record")) return s.misuse("--record needs --pcap FILE");
    text = s.call.text("PACKET");
  }
  return s.call.has("in-port") ? "in_port=" + s.call.text("in-port") + " " + text : text;
}

}  // namespace

result<void> run_trace(const session& s) {
  const auto packet = take_packet(s);
  if (!packet) return tl::unexpected(packet.error());
  v1::TracePacketRequest request;
  request.set_bridge(s.call.text("BRIDGE"));
  request.set_packet(*packet);
  const auto got = s.daemon.call(s.daemon.flows(), &v1::FlowService::Stub::TracePacket, request);
  if (!got) return tl::unexpected(got.error());
  json lines = json::array(), outputs = json::array();
  std::string text = got->fields() + "\n\n";
  for (const auto& one : got->lines()) {
    json line = {{"depth", one.depth()}, {"text", one.text()}};
    if (one.has_table()) {
      line["table"] = one.table();
      line["template"] = one.table_template();
    }
    lines.push_back(std::move(line));
    text += std::string(2 * one.depth(), ' ') + one.text() +
            (one.has_table() ? "   [" + one.table_template() + "]" : "") + "\n";
  }
  text += "\n";
  for (const auto& one : got->outputs()) {
    json copy = {{"to", one.to()}, {"frame", hex(one.frame())}, {"fields", one.fields()}};
    const bool is_packet_in = !one.reason().empty();
    if (is_packet_in) {
      copy["reason"] = one.reason();
      copy["max_len"] = one.max_len();
    } else {
      copy["queue"] = one.queue();
      copy["trouble"] = one.trouble();
    }
    outputs.push_back(std::move(copy));
    const std::string& remark = is_packet_in ? one.reason() : one.trouble();
    text += one.to() + (remark.empty() ? "" : " (" + remark + ")") + ": " +
            std::to_string(one.frame().size()) + " bytes, " + one.fields() + "\n";
  }
  if (got->outputs().empty()) text += "it goes nowhere\n";
  s.answer({{"fields", got->fields()},
            {"frame", hex(got->frame())},
            {"lines", lines},
            {"outputs", outputs}},
           text);
  return {};
}

namespace {

using explanation = v1::ExplainBridgeResponse;

std::string number(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

json range_json(const explanation::Range& of, double by = 1) {
  return {{"lower", of.lower() * by}, {"upper", of.upper() * by}};
}
std::string range_text(const explanation::Range& of, double by = 1) {
  return number(of.lower() * by, 0) + " to " + number(of.upper() * by, 0);
}

double ns_of_cycle(const explanation& of) { return 1e9 / of.cycles_hz(); }

json predicted_json(const explanation& of) {
  if (!of.has_cycles()) return nullptr;
  return {{"cycles", range_json(of.cycles())}, {"ns", range_json(of.cycles(), ns_of_cycle(of))}};
}
json measured_json(const explanation& of) {
  if (!of.has_measured()) return nullptr;
  const auto packets = static_cast<double>(of.measured().packets());
  const double cycles = static_cast<double>(of.measured().cycles()) / packets;
  return {{"cycles", cycles},
          {"ns", cycles * ns_of_cycle(of)},
          {"packets", of.measured().packets()},
          {"packets_per_burst", packets / static_cast<double>(of.measured().bursts())},
          {"interrupted", of.measured().interrupted()}};
}

std::string served_text(const explanation::Table& of) {
  if (of.table_template().empty()) return "clauses";
  std::string apart;
  if (const std::uint32_t n = of.rows_apart(); n != 0)
    apart = ", " + std::to_string(n) + (n == 1 ? " row apart" : " rows apart");
  const std::string joined = of.joined() == 0 ? "" : ", " + grouped(of.joined()) + " joined";
  return of.table_template() + (of.field().empty() ? "" : " by " + of.field()) + apart + joined +
         (of.clauses() == 0 ? "" : ", clauses");
}

/// The prediction, and the measured figure beside it.
std::string cost_text(const explanation& of) {
  std::string made = "predicted  ";
  if (of.has_cycles()) {
    made += range_text(of.cycles()) + " cycles a packet (" +
            range_text(of.cycles(), ns_of_cycle(of)) + " ns), in full bursts\n";
  } else {
    made += "none: " + of.not_predicted() + "\n";
  }
  made += "measured   ";
  if (const json got = measured_json(of); !got.is_null()) {
    made += number(got["cycles"], 0) + " cycles a packet (" + number(got["ns"], 0) + " ns), of " +
            grouped(of.measured().packets()) + " packets in bursts of " +
            number(got["packets_per_burst"], 1);
    if (const std::uint64_t n = of.measured().interrupted(); n != 0)
      made += " (but for " + grouped(n) + (n == 1 ? " that was" : " that were") + " interrupted)";
  } else {
    made += "no packets yet";
  }
  const std::string ago = number(static_cast<double>(of.measured_ns()) / 1e9, 0);
  return made + ", since the " + (of.measured_since_start() ? "start" : "last explain") + ", " +
         ago + " s ago\n";
}

}  // namespace

result<void> run_explain(const session& s) {
  v1::ExplainBridgeRequest request;
  request.set_bridge(s.call.text("BRIDGE"));
  const auto got = s.daemon.call(s.daemon.flows(), &v1::FlowService::Stub::ExplainBridge, request);
  if (!got) return tl::unexpected(got.error());
  json tables = json::array();
  table rows({"TABLE", "FLOWS", "TEMPLATE", "BYTES", "LOOKUPS", "MATCHES", "VISITS", "CYCLES"});
  std::string reasons;
  for (const auto& one : got->tables()) {
    json refused = json::array();
    for (const auto& each : one.refused()) {
      refused.push_back({{"template", each.table_template()}, {"reason", each.reason()}});
      reasons += "table " + std::to_string(one.table()) + " is not " + each.table_template() +
                 ": " + each.reason() + "\n";
    }
    json each = {{"table", one.table()},
                 {"flows", one.flows()},
                 {"template", one.table_template()},
                 {"field", one.field()},
                 {"rows_apart", one.rows_apart()},
                 {"joined", one.joined()},
                 {"clauses", one.clauses()},
                 {"refused", refused},
                 {"bytes", one.bytes()},
                 {"lookups", one.lookups()},
                 {"matches", one.matches()},
                 {"visits", one.visits()},
                 {"cycles", one.has_cycles() ? range_json(one.cycles()) : json()}};
    tables.push_back(std::move(each));
    rows.add({std::to_string(one.table()), grouped(one.flows()), served_text(one),
              grouped(one.bytes()), grouped(one.lookups()), grouped(one.matches()),
              number(one.visits(), 2), one.has_cycles() ? range_text(one.cycles()) : ""});
  }
  const json all = {{"tables", tables},
                    {"predicted", predicted_json(*got)},
                    {"not_predicted", got->not_predicted()},
                    {"standalone", got->standalone()},
                    {"measured", measured_json(*got)},
                    {"measured_s", static_cast<double>(got->measured_ns()) / 1e9},
                    {"measured_since", got->measured_since_start() ? "start" : "explain"}};
  const bool drops_all = tables.empty() && !got->standalone();
  s.answer(all, drops_all ? "no table has rules: all packets are dropped\n"
                          : (tables.empty() ? "" : rows.text() + "\n") + cost_text(*got) +
                                (reasons.empty() ? "" : "\n" + reasons));
  return {};
}

}  // namespace coua::cli
