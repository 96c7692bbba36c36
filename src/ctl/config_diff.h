// SPDX-License-Identifier: Apache-2.0
//
// What differs between the configuration that runs and one that is wanted.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ctl/config.h"
#include "ctl/pipeline_texts.h"

namespace coua::ctl {

/// A port or a static entry that comes (no `before`), goes (no `after`) or changes.
template <typename Item>
struct item_change {
  std::optional<Item> before, after;
  std::size_t index = 0;     // of `after` in the wanted configuration
  bool is_replaced = false;  // it goes and comes again: this cannot change while it is there
};

/// A field by its path, "fib.ageing_s"; values as the file writes them.
struct field_change {
  std::string field, before, after;
};

/// A rule, group or meter that comes, goes or changes.
struct text_change {
  bool comes = false, goes = false;
  text_list list = text_list::flows;
  std::size_t index = 0;  // in the wanted configuration, where it comes
  std::string item;       // "flow priority=10,tcp"
  std::vector<field_change> fields;
};

/// A bridge that comes (no `before`), goes (no `after`) or changes.
struct bridge_change {
  std::optional<bridge_settings> before, after;
  std::size_t index = 0;                           // of `after` in the wanted configuration
  std::vector<field_change> restart{}, running{};  // of one that stays, as below
  std::vector<text_change> texts{};                // of one that stays or comes

  bool comes() const { return !before; }
  bool goes() const { return !after; }
  /// It stays, and others reach it by other ways, or under another name.
  bool opens_anew() const { return before && after && before->openflow != after->openflow; }
  const std::string& name() const { return (after ? *after : *before).name; }
};

struct config_difference {
  std::vector<field_change> restart;  // what only a restart can change
  std::vector<field_change> running;  // single values that can change while the switch runs
  std::vector<item_change<dp::port_config>> ports;
  std::vector<item_change<static_entry>> statics;
  std::vector<bridge_change> bridges;

  bool any() const {
    return !restart.empty() || !running.empty() || !ports.empty() || !statics.empty() ||
           !bridges.empty();
  }
};

/// The order of bridges, ports, static entries and rules does not matter. Where `wanted` says rules
/// of a bridge, those of `now` are what runs, whoever made them.
config_difference compare(const config& now, const config& wanted);

enum class change_kind { removed, replaced, changed, added, restart };

/// A change as a user reads it.
struct config_change {
  change_kind kind = change_kind::changed;
  std::string item;  // "port p0", "fib.ageing_s", "bridge br1: flow priority=10,tcp"
  std::vector<field_change> fields;  // that differ, or what an item has that comes or goes
  int line = 0;                      // of the wanted file; 0: it does not say it
};

/// "bridge br1", where there is a list of bridges; nothing where there is only one to speak of.
std::string label_of(const bridge_change& change, const config& wanted);

/// All changes in the order of their steps; what needs a restart comes last.
std::vector<config_change> describe(const config_difference& difference, const config& wanted);

/// "port p0: vlan: 10 -> 20, mtu: 1500 -> 9000"
std::string to_string(const config_change& change);

}  // namespace coua::ctl
