// SPDX-License-Identifier: Apache-2.0
#include "pipeline/model/named_ports.h"

#include <utility>
#include <variant>

namespace coua::pipeline {
namespace {

class name_finder {
 public:
  void add(value128 number) {
    if (number >= 1 && number <= port_max) all_.insert(static_cast<port_no>(number));
  }
  void add(const match& of) {
    for (const field which : {field::in_port, field::in_phy_port})
      if (const auto number = of.exact_value(which)) add(*number);
  }
  void add(const action_list& list) {
    for (const action& each : list) {
      std::visit(overloaded{[this](const act::output& one) { add(one.port); },
                            [this](const act::resubmit& one) { add(one.in_port); },
                            [this](const act::set_field& one) { set(one.which, one.value); },
                            [this](const act::learn& one) { learn(one); }, [](const auto&) {}},
                 each);
    }
  }
  std::set<port_no> take() { return std::move(all_); }

 private:
  void set(field which, value128 value) {
    if (which == field::in_port || which == field::in_phy_port) add(value);
  }
  /// Of its rules what is a constant.
  void learn(const act::learn& of) {
    for (const act::learn::part& each : of.parts) {
      if (each.from) continue;
      const bool sends = each.what == act::learn::part::role::output;
      const bool is_short = sends || each.to.n_bits < 32;
      const value128 number =
          is_short ? value128{port_of_bits(each.value).value_or(port_any)} : each.value;
      if (sends) add(number);
      if (!sends) set(each.to.which, number);
    }
  }

  std::set<port_no> all_;
};

}  // namespace

std::set<port_no> named_ports(const rule& one) {
  name_finder found;
  found.add(one.match);
  for (const auto* list : {&one.instructions.apply, &one.instructions.write})
    if (*list) found.add(**list);
  return found.take();
}

std::set<port_no> named_ports(const group& one) {
  name_finder found;
  for (const bucket& each : one.buckets) {
    found.add(each.watch_port);
    found.add(each.actions);
  }
  return found.take();
}

}  // namespace coua::pipeline
