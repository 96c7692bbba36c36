// SPDX-License-Identifier: Apache-2.0
#include <strings.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "ctl/ofp/duration.h"
#include "ctl/ofp/flow_text.h"
#include "ctl/ofp/operation_convert.h"
#include "ctl/ofp/text_check.h"
#include "ctl/ofp/value_check.h"

namespace coua::ofp {
namespace {

using pipeline::mod_command;

constexpr std::string_view bucket_word = "bucket=";

/// Whether the bucket watches LOCAL. The library refuses that, so it is told of port 1, in as many
/// characters.
bool hide_local(std::string& bucket, const ovs_port_map& map) {
  std::string walked = bucket;
  char* rest = walked.data();
  char *name, *value;
  bool is_local = false;
  while (ofputil_parse_key_value(&rest, &name, &value)) {
    if (strcasecmp(name, "watch_port") != 0) continue;
    ofp_port_t port = OFPP_NONE;
    is_local = ofputil_port_from_string(value, map.get(), &port) && port == OFPP_LOCAL;
    if (!is_local) continue;
    const std::size_t n = std::strlen(value);
    bucket.replace(static_cast<std::size_t>(value - walked.data()), n,
                   std::string(n - 1, '0') + "1");
  }
  return is_local;
}

/// Of the buckets from `at` on: which ones watch LOCAL, of which the text says nothing any more.
result<std::vector<bool>> read_buckets(std::string& text, std::size_t at, const ovs_port_map& map) {
  std::vector<bool> watch_local;
  while (at < text.size()) {
    at += bucket_word.size();
    const std::size_t end = std::min(text.find(bucket_word, at), text.size());
    std::string one = text.substr(at, end - at);
    if (auto good = check_bucket(one); !good) return tl::unexpected(good.error());
    watch_local.push_back(hide_local(one, map));
    text.replace(at, end - at, one);
    at = end;
  }
  return watch_local;
}

struct head {
  std::string text;  // for the library
  bool fast_failover = false;
};

/// Number and type. The library forgets memory when a bucket of a fast failover group watches
/// nothing, so it is not told of the type; the model checks what buckets watch.
result<head> read_head(std::string text) {
  head made;
  seen_words seen;
  char* rest = text.data();
  char *name, *value;
  while (ofputil_parse_key_value(&rest, &name, &value)) {
    if (auto good = check_once(seen, name); !good) return tl::unexpected(good.error());
    std::string_view key = name, to = value;
    if (key == "selection_method" || key == "selection_method_param" || key == "fields") {
      return fail(errc::unsupported, name, "OpenFlow 1.3 cannot choose the method of selection");
    }
    if (key == "group_id" && to != "all") {
      constexpr unsigned id_bits = 32;
      if (auto good = check_number(key, to, id_bits); !good) return tl::unexpected(good.error());
    }
    if (key == "type" && (to == "ff" || to == "fast_failover")) {
      made.fast_failover = true;
      to = "all";
    } else if (key == "type") {
      made.fast_failover = false;
    }
    made.text.append(key).append("=").append(to).append(",");
  }
  return made;
}

}  // namespace

result<pipeline::group_mod> parse_group(std::string_view text, mod_command command,
                                        const port_names& names) {
  silence_library();
  auto taken = checked_text(text);
  if (!taken) return tl::unexpected(taken.error());
  const std::size_t n_head = std::min(taken->find(bucket_word), taken->size());
  const ovs_port_map map(names);
  const auto watch_local = read_buckets(*taken, n_head, map);
  if (!watch_local) return tl::unexpected(watch_local.error());
  auto first = read_head(taken->substr(0, n_head));
  if (!first) return tl::unexpected(first.error());
  ovs_group_mod parsed;
  ofputil_protocol usable;
  char* wrong = parse_ofp_group_mod_str(&parsed, static_cast<int>(command),
                                        (first->text + taken->substr(n_head)).c_str(), map.get(),
                                        nullptr, &usable);
  if (wrong != nullptr) return tl::unexpected(library_error(wrong));
  auto made = from_ovs(parsed);
  if (!made) return tl::unexpected(to_error(made.error()));
  std::vector<pipeline::bucket>& buckets = made->what.buckets;
  for (std::size_t i = 0; i < std::min(buckets.size(), watch_local->size()); ++i)
    if ((*watch_local)[i]) buckets[i].watch_port = pipeline::port_local;
  if (first->fast_failover) made->what.type = pipeline::group_type::fast_failover;
  return std::move(*made);
}

std::string print_group(const pipeline::group& one, const port_names& names) {
  silence_library();
  ovs_group_mod group;
  if (!to_ovs(pipeline::group_mod{mod_command::add, one}, group)) return to_string(one);
  const ovs_port_map map(names);
  ovs_text text;
  ofputil_group_mod_format__(text.get(), OFP13_VERSION, &group, map.get(), nullptr);
  return std::string(text.view().substr(text.view().find("group_id=")));
}

std::string print_group_stats(const pipeline::group& one, const pipeline::group_state& state,
                              pipeline::time_ns now) {
  const auto counts = [](const pipeline::traffic& counted) {
    return "packet_count=" + std::to_string(counted.packets) +
           ",byte_count=" + std::to_string(counted.bytes);
  };
  std::string text =
      "group_id=" + std::to_string(one.id) + ",duration=" + duration_text(state.added, now) +
      ",ref_count=" + std::to_string(state.n_rules + state.n_groups) + "," + counts(state.counted);
  for (std::size_t i = 0; i < state.buckets.size(); ++i) {
    text += ",bucket" + std::to_string(i) + ":" + counts(state.buckets[i]);
  }
  return text;
}

}  // namespace coua::ofp
