// SPDX-License-Identifier: Apache-2.0
//
// Adding, modifying and removing meters and ports (OpenFlow 1.3.5, section 6.6).
#include "pipeline/model/operations.h"

namespace coua::pipeline {
namespace {

std::string name_of(meter_id id) { return "meter " + std::to_string(id); }

of_result<void> put(store& in, const meter_mod& asked, time_ns now) {
  meter_entry* old = in.find_meter(asked.what.id);
  if (auto good = check_meter(asked.what); !good) return good;
  if (asked.command == mod_command::add && old != nullptr) {
    return refuse(of_error::meter_mod_meter_exists, name_of(asked.what.id), "it is there already");
  }
  if (asked.command == mod_command::modify && old == nullptr) {
    return refuse(of_error::meter_mod_unknown_meter, name_of(asked.what.id),
                  "there is no such meter");
  }
  if (old == nullptr && in.meters().size() >= in.params().meters_max) {
    return refuse(
        of_error::meter_mod_out_of_meters, name_of(asked.what.id),
        "the bridge has its " + std::to_string(in.params().meters_max) + " meters already");
  }
  meter_state state;
  if (old != nullptr) state = old->state;
  if (old == nullptr) state.added = now;
  state.generation = in.next_generation();
  state.bands.assign(asked.what.bands.size(), {});
  in.put_meter(std::make_shared<const meter>(asked.what), state);
  return {};
}

void remove_meter(store& in, meter_id id) {
  const meter_entry* old = in.find_meter(id);
  if (old == nullptr) return;
  if (old->state.n_rules != 0) {
    drop_rules(in, removal_reason::meter_deleted,
               [id](const rule& one) { return one.instructions.meter == id; });
  }
  in.drop_meter(id);
}

void remove_all_meters(store& in) {
  drop_rules(in, removal_reason::meter_deleted,
             [](const rule& one) { return one.instructions.meter.has_value(); });
  while (!in.meters().empty()) in.drop_meter(in.meters().begin()->first);
}

}  // namespace

of_result<void> perform(store& in, const meter_mod& asked, time_ns now) {
  if (asked.command != mod_command::remove) return put(in, asked, now);
  if (asked.what.id == meter_all) {
    remove_all_meters(in);
  } else {
    remove_meter(in, asked.what.id);
  }
  return {};
}

of_result<void> perform(store& in, const port_mod& asked, time_ns) {
  const auto old = in.ports().find(asked.what.number);
  const bool there = old != in.ports().end();
  const std::string where = "port " + port_name(asked.what.number);
  if (!is_standard_port(asked.what.number)) {
    return refuse(of_error::port_mod_bad_port, where, "no port can have this number");
  }
  switch (asked.command) {
    case mod_command::add:
      if (there) return refuse(of_error::port_mod_bad_port, where, "it is there already");
      in.put_port(asked.what);
      return {};
    case mod_command::modify:
      if (!there) return refuse(of_error::port_mod_bad_port, where, "there is no such port");
      if (old->second != asked.what) in.put_port(asked.what);
      return {};
    case mod_command::remove:
      if (there) in.drop_port(asked.what.number);
      return {};
  }
  return {};
}

}  // namespace coua::pipeline
