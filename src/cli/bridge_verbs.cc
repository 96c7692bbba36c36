// SPDX-License-Identifier: Apache-2.0
#include "cli/session.h"

namespace coua::cli {
namespace {

using spec = v1::BridgeSpec;

const char* start_word(const spec& of) {
  return of.start() == spec::START_NONE ? "none" : "normal";
}
const char* fail_mode_word(const spec& of) {
  return of.fail_mode() == spec::FAIL_MODE_STANDALONE ? "standalone" : "secure";
}

json bridge_json(const v1::Bridge& of) {
  json table_names = json::object();
  for (const auto& [table, name] : of.spec().table_names())
    table_names[std::to_string(table)] = name;
  return {{"name", of.spec().name()},
          {"ports", names_json(of.ports())},
          {"datapath_id", of.datapath_id()},
          {"management", of.management()},
          {"flows", of.flows()},
          {"groups", of.groups()},
          {"meters", of.meters()},
          {"flows_in_file", of.flows_in_file()},
          {"start", start_word(of.spec())},
          {"rules", of.spec().rules()},
          {"packet_in_rate", of.spec().packet_in_rate()},
          {"packet_in_burst", of.spec().packet_in_burst()},
          {"controllers", names_json(of.spec().controllers())},
          {"listen", names_json(of.spec().listen())},
          {"fail_mode", fail_mode_word(of.spec())},
          {"standalone", of.standalone()},
          {"probe_s", of.spec().probe_s()},
          {"backoff_max_s", of.spec().backoff_max_s()},
          {"table_names", table_names}};
}

std::string details_text(const v1::Bridge& of) {
  const spec& is = of.spec();
  const std::pair<const char*, std::string> lines[] = {
      {"datapath id", of.datapath_id()},
      {"management", of.management()},
      {"controllers", joined(is.controllers())},
      {"listen", joined(is.listen())},
      {"fail mode", std::string(fail_mode_word(is)) +
                        (of.standalone() ? "; no controller is there: it is an L2 switch" : "")},
      {"rules at most", grouped(is.rules())},
      {"rules", of.flows_in_file() ? "said by the file" : "left to controllers and coua flow"},
      {"packet-ins",
       grouped(is.packet_in_rate()) + " a second, " + grouped(is.packet_in_burst()) + " at once"},
  };
  std::string out;
  for (const auto& [name, value] : lines) {
    std::string left = name;
    left.resize(16, ' ');
    out += left + value + "\n";
  }
  return out;
}

template <typename Bridges>
std::string bridges_text(const Bridges& all) {
  table out({"BRIDGE", "DATAPATH ID", "FLOWS", "GROUPS", "METERS", "CONTROLLERS", "PORTS"});
  for (const v1::Bridge& each : all)
    out.add({each.spec().name(), each.datapath_id(), grouped(each.flows()), grouped(each.groups()),
             grouped(each.meters()),
             grouped(static_cast<std::uint64_t>(each.spec().controllers_size())),
             joined(each.ports())});
  return out.text();
}

result<v1::ListBridgesResponse> list_bridges(const session& s, const std::string& name) {
  v1::ListBridgesRequest request;
  request.set_name(name);
  return s.daemon.call(s.daemon.bridges(), &v1::BridgeService::Stub::ListBridges, request);
}

}  // namespace

result<void> run_bridge_list(const session& s) {
  const auto got = list_bridges(s, "");
  if (!got) return tl::unexpected(got.error());
  json list = json::array();
  for (const auto& each : got->bridges()) list.push_back(bridge_json(each));
  s.answer({{"bridges", list}}, bridges_text(got->bridges()));
  return {};
}

result<void> run_bridge_show(const session& s) {
  const auto got = list_bridges(s, s.call.text("NAME"));
  if (!got) return tl::unexpected(got.error());
  if (got->bridges_size() != 1) return fail(errc::io, "couad", "answered with another bridge");
  s.answer({{"bridge", bridge_json(got->bridges(0))}},
           bridges_text(got->bridges()) + details_text(got->bridges(0)));
  return {};
}

result<void> run_bridge_add(const session& s) {
  v1::AddBridgeRequest request;
  spec& wanted = *request.mutable_spec();
  const auto small = [&](const char* name) {
    return static_cast<std::uint32_t>(s.call.number(name));
  };
  wanted.set_name(s.call.text("NAME"));
  if (s.call.text("start") == "none") wanted.set_start(spec::START_NONE);
  wanted.set_rules(s.call.number("rules"));
  wanted.set_packet_in_rate(small("packet-in-rate"));
  wanted.set_packet_in_burst(small("packet-in-burst"));
  wanted.set_datapath_id(s.call.text("datapath-id"));
  for (const std::string& each : s.call.words("controllers")) wanted.add_controllers(each);
  for (const std::string& each : s.call.words("listen")) wanted.add_listen(each);
  wanted.set_management(s.call.text("management"));
  if (s.call.text("fail-mode") == "standalone") wanted.set_fail_mode(spec::FAIL_MODE_STANDALONE);
  wanted.set_probe_s(small("probe"));
  wanted.set_backoff_max_s(small("backoff-max"));
  const auto got = s.daemon.call(s.daemon.bridges(), &v1::BridgeService::Stub::AddBridge, request);
  if (!got) return tl::unexpected(got.error());
  s.answer_change({{"bridge", bridge_json(got->bridge())}}, got->changed(),
                  "bridge " + wanted.name(), "added");
  return {};
}

result<void> run_bridge_del(const session& s) {
  v1::RemoveBridgeRequest request;
  request.set_name(s.call.text("NAME"));
  const auto got =
      s.daemon.call(s.daemon.bridges(), &v1::BridgeService::Stub::RemoveBridge, request);
  if (!got) return tl::unexpected(got.error());
  s.answer_change(json::object(), got->changed(), "bridge " + request.name(), "removed");
  return {};
}

}  // namespace coua::cli
