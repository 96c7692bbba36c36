// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ctl/ofp/duration.h"
#include "ctl/ofp/flow_text.h"
#include "ctl/ofp/operation_convert.h"
#include "ctl/ofp/text_check.h"

namespace coua::ofp {
namespace {

/// The library begins a line for each band.
std::string in_one_line(std::string_view text) {
  std::string made(text);
  while (!made.empty() && made.back() == '\n') made.pop_back();
  std::replace(made.begin(), made.end(), '\n', ' ');
  return made;
}

/// "meter=1,kbps,bands=": as a meter without bands is printed.
bool says_no_bands(std::string_view text) {
  text = trimmed(text);
  return text.ends_with("bands=") || text.ends_with("band=");
}

/// Of the library's parser a meter has bands, each with the size of a burst if the meter has them.
std::string with_a_band(const std::string& text) {
  const bool has_burst = text.find("burst") != std::string::npos;
  return text + "type=drop,rate=1" + (has_burst ? ",burst_size=1" : "");
}

}  // namespace

result<pipeline::meter_mod> parse_meter(std::string_view text, pipeline::mod_command command) {
  silence_library();
  const auto taken = checked_text(text);
  if (!taken) return tl::unexpected(taken.error());
  if (command == pipeline::mod_command::remove &&
      taken->find_first_not_of(" \t") == std::string::npos) {
    return pipeline::meter_mod{command, {pipeline::meter_all}};
  }
  if (auto good = check_meter(*taken); !good) return tl::unexpected(good.error());
  const bool no_bands = says_no_bands(*taken);
  const std::string whole = no_bands ? with_a_band(*taken) : *taken;
  ovs_meter_mod parsed;
  ofputil_protocol usable;
  char* wrong = parse_ofp_meter_mod_str(&parsed, whole.c_str(), static_cast<int>(command), &usable);
  if (wrong != nullptr) return tl::unexpected(library_error(wrong));
  auto made = from_ovs(parsed);
  if (!made) return tl::unexpected(to_error(made.error()));
  if (no_bands) made->what.bands.clear();
  return std::move(*made);
}

std::string print_meter(const pipeline::meter& one) {
  silence_library();
  ovs_meter_mod meter;
  to_ovs(pipeline::meter_mod{pipeline::mod_command::add, one}, meter);
  ovs_text text;
  ofputil_format_meter_config(text.get(), &meter.meter);
  return in_one_line(text.view());
}

std::string print_meter_stats(const pipeline::meter& one, const pipeline::meter_state& state,
                              pipeline::time_ns now) {
  std::string text = "meter:" + std::to_string(one.id) +
                     " flow_count:" + std::to_string(state.n_rules) +
                     " packet_in_count:" + std::to_string(state.counted.packets) +
                     " byte_in_count:" + std::to_string(state.counted.bytes) +
                     " duration:" + duration_text(state.added, now) + " bands:";
  for (std::size_t i = 0; i < state.bands.size(); ++i) {
    text += " " + std::to_string(i) + ": packet_count:" + std::to_string(state.bands[i].packets) +
            " byte_count:" + std::to_string(state.bands[i].bytes);
  }
  return text;
}

}  // namespace coua::ofp
