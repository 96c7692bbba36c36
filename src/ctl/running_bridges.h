// SPDX-License-Identifier: Apache-2.0
//
// The bridges that run: how each is configured, its pipeline, and its controllers.
//
// Bridges come and go while others look at them. Who uses one holds it (find, each): it is there
// for so long, and remove() waits for that. What changes them is done by one after the other, who
// holds running_config::changing(); anybody may look. Who needs both holds that first.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ctl/config.h"
#include "ctl/controller_list.h"
#include "ctl/pipeline_control.h"
#include "dp/switch.h"

namespace coua::ctl {

/// What a switch starts with.
dp::switch_config switch_settings(const config& from);

/// How others reach a bridge, which no two bridges have in common.
struct openflow_place {
  std::uint64_t datapath_id = 0;    // 0: it is not open, and nobody can
  std::string management;           // path of the socket
  std::vector<std::string> listen;  // "ptcp:6653", "punix:/run/x"

  bool is_open() const { return datapath_id != 0; }
  /// A path as normal_path() writes it, or what else is listened on, and the field that says it.
  struct address {
    std::string field, text;
  };
  std::vector<address> addresses() const;
};

/// What stands above one bridge of the switch.
class served_bridge {
 public:
  virtual ~served_bridge() = default;
  virtual pipeline_control& pipeline() = 0;
  /// Nobody, before open() and after close().
  virtual controller_list& controllers() = 0;
  /// Speaks OpenFlow from now on. Errors: io, busy, denied, for an address or a socket; the place
  /// begins with the field of `how`, "listen[1]: ptcp:6653".
  virtual result<void> open(const openflow_config& how) = 0;
  /// And no more.
  virtual void close() = 0;
  /// What it would have if it were opened now, and what it has.
  virtual openflow_place place_of(const openflow_config& how) const = 0;
  virtual openflow_place place() const = 0;
};

/// A bridge that is there for as long as this is.
struct held_bridge {
  std::string name;
  std::shared_ptr<served_bridge> served;

  pipeline_control& pipeline() const { return served->pipeline(); }
};

class running_bridges {
 public:
  using maker = std::function<std::unique_ptr<served_bridge>(const std::string& name)>;

  /// `sw` must outlive this.
  explicit running_bridges(dp::l2_switch& sw) : switch_(sw) {}
  /// What stands above bridges is made by it; before anything else is asked.
  void make_by(maker make) { make_ = std::move(make); }
  /// How long remove() waits for those who hold the bridge. A scrape holds it for 2 s at most, but
  /// a dump whose client does not read, for minutes.
  void set_patience(std::chrono::milliseconds patience) { patience_ = patience; }

  /// By its name; empty: the only one. Errors: not_found, invalid (there are several), each with
  /// the names that there are.
  result<held_bridge> find(const std::string& name) const;
  /// Calls `look(held_bridge)` for each, or, with a name, for that one. Holds one at a time.
  template <class Look>
  void each(const std::string& name, Look look) const {
    for (const std::string& one : names())
      if (name.empty() || one == name)
        if (const auto held = find(one)) look(*held);
  }
  /// All, the first one first; rules, groups and meters are not in them.
  std::vector<bridge_settings> settings() const;
  std::optional<bridge_settings> settings(const std::string& name) const;
  std::vector<std::string> names() const;
  /// The bridge of a port that names none.
  std::string first() const;

  /// One that the switch has already.
  void take(const bridge_settings& bridge);
  /// Adds it to the switch; it speaks with nobody yet. Errors: of the switch.
  result<void> add(const bridge_settings& bridge);
  /// Errors: of the switch; busy, when somebody holds it for too long. Then it is as it was.
  result<void> remove(const std::string& name);
  /// With a datapath id that is no other's, where it is to be made up. Errors: not_found; of
  /// served_bridge::open(), and as those exists, for a datapath id, and busy, for an address, that
  /// another bridge has.
  result<void> open(const std::string& name);
  void close(const std::string& name);
  /// Whose rules they are has changed, or which ones are the first.
  void note(const bridge_settings& bridge);
  /// The order of settings(); those that are not named come last.
  void arrange(const std::vector<std::string>& names);

 private:
  struct entry {
    bridge_settings settings;
    std::unique_ptr<served_bridge> served;
    unsigned holders = 0;
  };
  using entry_ptr = std::shared_ptr<entry>;

  openflow_config with_datapath_id(const std::string& name, const served_bridge& served) const;
  result<void> check_alone(const std::string& name, const openflow_place& place) const;
  entry_ptr known(const std::string& name) const;
  held_bridge hold(const entry_ptr& one) const;
  std::string list() const;
  void keep(const bridge_settings& bridge);

  dp::l2_switch& switch_;
  maker make_;
  std::chrono::milliseconds patience_{5000};
  mutable std::mutex mutex_;  // of what follows
  mutable std::condition_variable let_go_;
  std::vector<entry_ptr> all_;
};

}  // namespace coua::ctl
