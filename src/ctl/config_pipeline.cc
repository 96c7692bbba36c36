// SPDX-License-Identifier: Apache-2.0
//
// The fields of `pipeline`.
#include "ctl/config_schema.h"
#include "ctl/pipeline_texts.h"
#include "ctl/ranges.h"

namespace coua::ctl {
namespace {

/// What is wrong with a text, check_pipeline() finds.
field<bridge_settings> texts_of(field_info info, text_list which) {
  auto made = texts_field<bridge_settings>(
      std::move(info), "at most 65,536 characters each",
      [](const std::string&, const auto&) { return std::string(); },
      [which](bridge_settings& b) -> auto& { return list_of(b.rules, which); });
  made.info.default_value = "left to controllers and `coua flow`";
  made.write = [which](bridge_settings& b, extent) -> config_value {
    if (!b.rules.given) return {};
    config_value texts = texts_value(list_of(b.rules, which));
    // Somebody must say that there are none.
    if (which == text_list::flows) texts.is = config_value::shape::list;
    return texts;
  };
  return and_then(std::move(made), [](bridge_settings& b) { b.rules.given = true; });
}

}  // namespace

const field_table<bridge_settings>& pipeline_fields() {
  static const field_table<bridge_settings> fields = {
      choice_field<bridge_settings>(
          {.name = "start",
           .meaning =
               "The rules at first: `normal` is one for all packets with actions=NORMAL, an "
               "L2 switch; `none` drops all packets until there are rules. Not together with "
               "`flows`, `groups`, `meters`",
           .example = "normal"},
          {"normal", "none"}, [](bridge_settings& b) -> auto& { return b.pipeline.start; }),
      size_field<bridge_settings>(
          {.name = "rules",
           .meaning = "Rules that all tables may have; K, M are powers of ten, Ki, "
                      "Mi powers of two",
           .example = "1M"},
          1, limits::rules_max, [](bridge_settings& b) -> auto& { return b.pipeline.rules_max; }),
      integer_field<bridge_settings>(
          {.name = "packet_in_rate",
           .meaning = "Packets to the controller; those above it are dropped and "
                      "counted. Each worker has its share",
           .example = "1000",
           .unit = "packets/s"},
          1, limits::packet_in_rate_max,
          [](bridge_settings& b) -> auto& { return b.pipeline.packet_in_rate; }),
      integer_field<bridge_settings>(
          {.name = "packet_in_burst",
           .meaning = "Packets to the controller that may come at once",
           .example = "250",
           .unit = "packets"},
          1, limits::packet_in_burst_max,
          [](bridge_settings& b) -> auto& { return b.pipeline.packet_in_burst; }),
      texts_of(
          {.name = "flows",
           .meaning = "The rules, as `coua flow add` takes them: at the start, and after `config "
                      "apply`, the pipeline has exactly these. Once `flows`, `groups` or `meters` "
                      "is given, what of them is left out is empty",
           .example = "[\"priority=10,tcp,tp_dst=80 actions=output:p1\", \"priority=0 "
                      "actions=NORMAL\"]"},
          text_list::flows),
      texts_of({.name = "groups",
                .meaning = "The groups, as `coua group add` takes them, in any order",
                .example = "[\"group_id=1,type=select,bucket=output:p1,bucket=output:p2\"]"},
               text_list::groups),
      texts_of({.name = "meters",
                .meaning = "The meters, as `coua meter add` takes them",
                .example = "[\"meter=1,kbps,band=type=drop,rate=1000\"]"},
               text_list::meters),
  };
  return fields;
}

void check_pipeline(config_reader& reader, const config& c, std::size_t bridge) {
  const bridge_settings& of = c.bridges[bridge];
  const std::string before = c.bridge_path(bridge);
  if (!of.rules.given || reader.troubled(before + "pipeline")) return;
  if (reader.has(before + "pipeline.start"))
    reader.complain_at(
        before + "pipeline.start",
        "is given together with flows, groups or meters, which say all that there is; "
        "keep one of them");
  ofp::port_names names;
  add_guesses(c.ports, of.name, names);
  for (text_problem& each : check_texts(of.rules, names, of.pipeline.rules_max))
    reader.complain_at(before + each.path, std::move(each.reason));
}

}  // namespace coua::ctl
