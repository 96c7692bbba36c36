// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <cstring>

#include "cli/doctor.h"
#include "cli/session.h"
#include "cli/verbs.h"

namespace coua::cli {
namespace {

std::string interface_of(const std::string& devargs) {
  for (const std::string& argument : split(devargs, ',')) {
    if (argument.starts_with("iface=")) return argument.substr(argument.find('=') + 1);
  }
  return "";
}

/// The kernel's interfaces that are ports. The daemon may not run, or hang: that is why the doctor
/// was called.
result<std::vector<std::string>> ask_for_interfaces(client& daemon) {
  std::vector<std::string> interfaces;
  if (auto there = daemon.probe(); !there) return tl::unexpected(there.error());
  const auto got =
      daemon.call(daemon.ports(), &v1::PortService::Stub::ListPorts, v1::ListPortsRequest());
  if (!got) return tl::unexpected(got.error());
  for (const auto& port : got->ports()) {
    std::vector<std::string> devices(port.spec().bond().members().begin(),
                                     port.spec().bond().members().end());
    devices.push_back(port.spec().devargs());
    for (const std::string& devargs : devices)
      if (devargs.starts_with("net_af_")) interfaces.push_back(interface_of(devargs));
  }
  return interfaces;
}

/// Names of interfaces may hold what a terminal would obey.
std::string printable(std::string text) {
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text;
}

finding silent(const machine_facts& of, const error& why) {
  return {verdict::note,
          "couad",
          of.couad != 0 ? "process " + std::to_string(of.couad) + " cannot be asked: " + why.what
                        : "none answers at this socket: " + why.what,
          "which interfaces are its ports is not known",
          {},
          "where one runs, name its socket by -s PATH, and ask as a user who may open it"};
}

/// By sudo: its user types the commands, who is not root.
bool is_by_sudo() {
  const char* user = std::getenv("SUDO_UID");
  return user != nullptr && std::strcmp(user, "0") != 0;
}

std::string text_of(finding each) {
  for (std::string* part : {&each.topic, &each.what, &each.cost, &each.then})
    *part = printable(*part);
  for (std::string& line : each.mend) line = printable(line);
  const std::string word = to_string(each.is);
  constexpr std::size_t column = 9;
  std::string text =
      word + std::string(column - word.size(), ' ') + each.topic + ": " + each.what + "\n";
  const auto add = [&](const char* what, const std::string& line) {
    const std::string head = std::string(column, ' ') + what;
    text += head + std::string(column + 7 - head.size(), ' ') + line + "\n";
  };
  if (!each.cost.empty()) add("costs", each.cost);
  for (std::size_t i = 0; i < each.mend.size(); ++i) add(i == 0 ? "mend" : "", "$ " + each.mend[i]);
  if (!each.then.empty()) add(each.mend.empty() ? "mend" : "then", each.then);
  return text;
}

}  // namespace

result<void> run_doctor(const session& s) {
  constexpr double patience_s = 2;
  client daemon(s.daemon.socket(), s.call.real("timeout", patience_s));
  machine_facts facts = examine_machine("", daemon.process());
  if (is_by_sudo()) facts.is_root = false;
  const auto interfaces = ask_for_interfaces(daemon);
  facts.veths = examine_veths(interfaces.value_or(std::vector<std::string>()));
  std::vector<finding> findings = diagnose(facts);
  if (!interfaces) findings.push_back(silent(facts, interfaces.error()));
  json list = json::array();
  std::string text;
  std::size_t n_worse = 0, n_missing = 0;
  for (const finding& each : findings) {
    list.push_back({{"verdict", to_string(each.is)},
                    {"topic", each.topic},
                    {"what", each.what},
                    {"cost", each.cost},
                    {"mend", each.mend},
                    {"then", each.then}});
    text += text_of(each);
    n_worse += each.is == verdict::worse ? 1 : 0;
    n_missing += each.is == verdict::missing ? 1 : 0;
  }
  text +=
      std::to_string(n_missing) + " missing, " + std::to_string(n_worse) + " worse than could be\n";
  s.answer({{"couad", facts.couad}, {"findings", list}, {"worse", n_worse}, {"missing", n_missing}},
           text);
  if (n_missing > 0 || (s.call.has("strict") && n_worse > 0)) s.status = exit_differs;
  return {};
}

}  // namespace coua::cli
