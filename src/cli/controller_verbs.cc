// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cli/session.h"
#include "cli/waiting.h"

namespace coua::cli {
namespace {

const char* origin_word(v1::Controller::Origin origin) {
  switch (origin) {
    case v1::Controller::ORIGIN_CAME: return "came";
    case v1::Controller::ORIGIN_MANAGEMENT: return "management";
    default: return "configured";
  }
}

json text_or_null(const std::string& text) { return text.empty() ? json(nullptr) : json(text); }

json controller_json(const v1::Controller& of) {
  return {{"bridge", of.bridge()},
          {"target", of.target()},
          {"origin", origin_word(of.origin())},
          {"connected", of.connected()},
          {"for_s", of.for_s()},
          {"role", text_or_null(of.role())},
          {"connections", of.connections()},
          {"received", of.received()},
          {"sent", of.sent()},
          {"trouble", text_or_null(of.trouble())}};
}

std::string controllers_text(const v1::ListControllersResponse& all) {
  table out({"BRIDGE", "CONTROLLER", "ORIGIN", "STATE", "FOR", "ROLE", "CONNECTIONS", "RECEIVED",
             "SENT", "LAST TROUBLE"});
  for (const auto& each : all.controllers())
    out.add({each.bridge(), each.target(), origin_word(each.origin()),
             each.connected() ? "connected" : "not connected", grouped(each.for_s()) + " s",
             each.role().empty() ? "-" : each.role(), grouped(each.connections()),
             grouped(each.received()), grouped(each.sent()),
             each.trouble().empty() ? "-" : each.trouble()});
  std::string text = out.text();
  for (const std::string& bridge : all.standalone_bridges())
    text += "No controller of bridge " + bridge +
            " is there: it forwards by itself, as an L2 switch (fail-standalone).\n";
  return text;
}

bool is_awaited(const v1::Controller& of) {
  return of.origin() == v1::Controller::ORIGIN_CONFIGURED && !of.connected();
}

}  // namespace

result<void> run_controller_list(const session& s) {
  v1::ListControllersRequest request;
  request.set_bridge(s.call.text("bridge"));
  v1::ListControllersResponse all;
  const auto all_are_connected = [&]() -> result<bool> {
    auto got = s.daemon.call(s.daemon.system(), &v1::SystemService::Stub::ListControllers, request);
    if (!got) return tl::unexpected(got.error());
    all = std::move(*got);
    return std::ranges::none_of(all.controllers(), is_awaited);
  };
  auto looked = look_until(s, "not all controllers are connected", all_are_connected);
  if (!looked) return looked;
  json list = json::array();
  for (const auto& each : all.controllers()) list.push_back(controller_json(each));
  s.answer({{"controllers", list},
            {"standalone", all.standalone()},
            {"standalone_bridges", names_json(all.standalone_bridges())}},
           controllers_text(all));
  return {};
}

}  // namespace coua::cli
