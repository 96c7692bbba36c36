// SPDX-License-Identifier: Apache-2.0
#include "ctl/ofp/text_check.h"

#include <strings.h>

#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "ctl/ofp/action_value.h"
#include "ctl/ofp/flow_text.h"
#include "ctl/ofp/ovs.h"
#include "ctl/ofp/value_check.h"

namespace coua::ofp {
namespace {

constexpr std::array known = {
    OFPACT_OUTPUT,          OFPACT_GROUP,           OFPACT_CONTROLLER,     OFPACT_ENQUEUE,
    OFPACT_SET_FIELD,       OFPACT_SET_VLAN_VID,    OFPACT_SET_VLAN_PCP,   OFPACT_STRIP_VLAN,
    OFPACT_PUSH_VLAN,       OFPACT_SET_ETH_SRC,     OFPACT_SET_ETH_DST,    OFPACT_SET_IPV4_SRC,
    OFPACT_SET_IPV4_DST,    OFPACT_SET_IP_DSCP,     OFPACT_SET_IP_ECN,     OFPACT_SET_IP_TTL,
    OFPACT_SET_L4_SRC_PORT, OFPACT_SET_L4_DST_PORT, OFPACT_DEC_TTL,        OFPACT_SET_MPLS_LABEL,
    OFPACT_SET_MPLS_TC,     OFPACT_SET_MPLS_TTL,    OFPACT_DEC_MPLS_TTL,   OFPACT_PUSH_MPLS,
    OFPACT_POP_MPLS,        OFPACT_SET_TUNNEL,      OFPACT_SET_QUEUE,      OFPACT_METER,
    OFPACT_CLEAR_ACTIONS,   OFPACT_WRITE_ACTIONS,   OFPACT_WRITE_METADATA, OFPACT_GOTO_TABLE,
    OFPACT_REG_MOVE,        OFPACT_OUTPUT_REG,      OFPACT_RESUBMIT,       OFPACT_CONJUNCTION,
    OFPACT_LEARN,
};

/// An action that only the library knows.
bool is_unknown(const char* name) {
  for (int type = 0; type < N_OFPACTS; ++type) {
    const auto id = static_cast<ofpact_type>(type);
    if (strcasecmp(name, ofpact_name(id)) == 0) {
      return std::find(known.begin(), known.end(), id) == known.end();
    }
  }
  return strcasecmp(name, "bundle_load") == 0;
}

bool contains(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

result<void> check_action(const char* name, const char* value) {
  if (is_unknown(name)) return fail(errc::unsupported, name, "the switch has no such action");
  if (strcasecmp(name, "controller") == 0 &&
      (contains(value, "userdata") || contains(value, "pause"))) {
    return fail(errc::unsupported, name, "max_len is the only option");
  }
  if (strcasecmp(name, "dec_ttl") == 0 && *value != '\0') {
    return fail(errc::unsupported, name, "controllers cannot be chosen");
  }
  return check_action_value(name, value);
}

result<void> check_list(char* text, std::size_t& n_actions, bool nested) {
  char *name, *value;
  while (ofputil_parse_key_value(&text, &name, &value)) {
    if (++n_actions > text_actions_max) {
      return fail(errc::invalid, "actions",
                  "there are more than " + std::to_string(text_actions_max));
    }
    if (auto good = check_action(name, value); !good) return good;
    if (strcasecmp(name, "write_actions") != 0) continue;
    if (nested) return fail(errc::invalid, name, "write_actions cannot be within write_actions");
    if (auto good = check_list(value, n_actions, true); !good) return good;
  }
  return {};
}

/// The library closes what is open at the end of the text.
result<void> check_brackets(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (quoted || depth < 0) continue;
    if (c == '(') ++depth;
    if (c == ')') --depth;
  }
  if (depth == 0) return {};
  return fail(
      errc::invalid, "",
      depth > 0 ? "a bracket is opened and not closed" : "a bracket is closed and not opened");
}

/// Words of a rule that stand alone.
constexpr std::array flag_words = std::to_array<std::string_view>(
    {"eth", "send_flow_rem", "check_overlap", "reset_counts", "no_packet_counts", "no_byte_counts",
     "no_readonly_table", "allow_hidden_fields"});
/// Of a dump; they say nothing of the rule, so that its lines can be read again. And two that the
/// library reads without a fault.
constexpr std::array free_words = std::to_array<std::string_view>(
    {"duration", "n_packets", "n_bytes", "idle_age", "hard_age", "out_port", "out_group"});
struct number_word {
  std::string_view name;
  unsigned n_bits;
};
constexpr std::array number_words = std::to_array<number_word>({
    {"priority", 16},
    {"idle_timeout", 16},
    {"hard_timeout", 16},
    {"importance", 16},
});

template <class List>
bool is_one_of(const List& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

result<void> check_field(const mf_field& of, const char* name, const char* value) {
  // Of options of tunnels the library takes a name alone: the packet has it.
  if (*value == '\0' && !of.variable_len) return fail(errc::invalid, name, "it has no value");
  return check_value(of, name, value);
}

/// "reg0[4..7]=5"
result<void> check_part(const char* name, const char* value) {
  const auto bits = read_bits(name);
  if (!bits) return tl::unexpected(bits.error());
  return bits->has_value() ? check_value(**bits, name, value) : result<void>{};
}

result<void> check_cookie(seen_words& seen, const char* value) {
  // To modify rules that have one cookie and get another, it is said twice: 1/-1 and 2.
  const bool with_mask = std::string_view(value).find('/') != std::string_view::npos;
  if (auto good = check_once(seen, with_mask ? "cookie with a mask" : "cookie"); !good) return good;
  // Of 64 bits -1 is all of them, in a cookie as in a mask.
  const std::string_view text(value);
  const bool all = text == "-1" || text.starts_with("-1/");
  return check_masked("cookie", all ? "0" + std::string(text.substr(2)) : std::string(text), 64);
}

result<void> check_number_word(const number_word& of, seen_words& seen, const char* value) {
  const std::string name(of.name);
  if (auto good = check_once(seen, name); !good) return good;
  return check_number(name, value, of.n_bits);
}

result<void> check_table(pipeline::table_id last, seen_words& seen, const char* value) {
  if (auto good = check_once(seen, "table"); !good) return good;
  return check_at_most("table", value, last, number_form::decimal);
}

result<void> check_word(const char* name, const char* value, pipeline::table_id table_last,
                        seen_words& seen) {
  const ofp_protocol* protocol;
  if (ofp_parse_protocol(name, &protocol) || is_one_of(flag_words, name)) {
    if (*value == '\0') return {};
    return fail(errc::invalid, name, "it takes no value");
  }
  if (const mf_field* of = mf_from_name(name); of != nullptr) return check_field(*of, name, value);
  if (std::string_view(name).find('[') != std::string_view::npos) return check_part(name, value);
  if (std::string_view(name) == "table") return check_table(table_last, seen, value);
  if (std::string_view(name) == "cookie") return check_cookie(seen, value);
  for (const number_word& one : number_words)
    if (one.name == name) return check_number_word(one, seen, value);
  if (is_one_of(free_words, name)) return {};
  return fail(errc::invalid, "", std::string("unknown keyword ") + name);
}

constexpr std::array meter_flags =
    std::to_array<std::string_view>({"kbps", "pktps", "burst", "stats"});
constexpr std::array meter_names =
    std::to_array<std::string_view>({"all", "controller", "slowpath"});
constexpr std::array meter_numbers = std::to_array<number_word>(
    {{"meter", 32}, {"rate", 32}, {"burst_size", 32}, {"prec_level", 8}});

result<void> check_meter_number(seen_words& seen, const std::string& name, std::string_view value) {
  for (const number_word& one : meter_numbers) {
    if (one.name != name) continue;
    if (auto good = check_once(seen, name); !good) return good;
    if (name == "meter" && is_one_of(meter_names, value)) return {};
    return check_number(name, value, one.n_bits);
  }
  return fail(errc::invalid, "", "unknown keyword " + name);
}

/// The next one, "" at the end. To the library, what is between them makes no difference.
std::string_view take_meter_word(std::string_view& text) {
  constexpr std::string_view between = "=, \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(between), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(between));
  text.remove_prefix(word.size());
  return word;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

result<std::string> checked_text(std::string_view text) {
  if (text.size() > text_max) {
    return fail(errc::invalid, "", "longer than " + std::to_string(text_max) + " characters");
  }
  if (contains(text, std::string_view("\0", 1))) {
    return fail(errc::invalid, "", "there is a character of code 0 in it");
  }
  if (!is_utf8(text))
    return fail(errc::invalid, "", "there is a character that is not UTF-8 in it");
  return std::string(text);
}

result<void> check_match(std::string text, pipeline::table_id table_last) {
  if (auto good = check_brackets(text); !good) return good;
  seen_words seen;
  char* rest = text.data();
  char *name, *value;
  while (ofputil_parse_key_value(&rest, &name, &value)) {
    if (auto good = check_word(name, value, table_last, seen); !good) return good;
  }
  return {};
}

result<void> check_actions(std::string text) {
  if (auto good = check_brackets(text); !good) return good;
  std::size_t n_actions = 0;
  return check_list(text.data(), n_actions, false);
}

result<void> check_bucket(std::string text) {
  if (auto good = check_brackets(text); !good) return good;
  std::size_t n_actions = 0;
  char* rest = text.data();
  char *name, *value;
  while (ofputil_parse_key_value(&rest, &name, &value)) {
    if (strcasecmp(name, "bucket_id") == 0) {
      return fail(errc::unsupported, name, "OpenFlow 1.3 gives buckets no numbers");
    }
    if (strcasecmp(name, "watch_port") == 0) continue;
    if (strcasecmp(name, "weight") == 0 || strcasecmp(name, "watch_group") == 0) {
      const unsigned n_bits = strcasecmp(name, "weight") == 0 ? 16 : 32;
      if (auto good = check_number(name, value, n_bits); !good) return good;
      continue;
    }
    const bool list = strcasecmp(name, "action") == 0 || strcasecmp(name, "actions") == 0;
    if (auto good = list ? check_list(value, n_actions, false) : check_action(name, value); !good) {
      return good;
    }
    if (++n_actions > text_actions_max) {
      return fail(errc::invalid, "actions",
                  "there are more than " + std::to_string(text_actions_max));
    }
  }
  return {};
}

result<void> check_meter(std::string_view text) {
  seen_words seen;
  while (!text.empty()) {
    const std::string_view name = take_meter_word(text);
    // Of the bands the library knows the beginning of the word only.
    if (name.empty() || name.starts_with("band") || is_one_of(meter_flags, name)) continue;
    const std::string_view value = take_meter_word(text);
    if (name == "type") {
      seen.clear();  // another band
    } else if (auto good = check_meter_number(seen, std::string(name), value); !good) {
      return good;
    }
  }
  return {};
}

error library_error(char* said) {
  const ovs_error_text text(said);
  return {errc::invalid, "", text.get()};
}

}  // namespace coua::ofp
