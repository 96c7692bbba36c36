// SPDX-License-Identifier: Apache-2.0
#include "ctl/ofp/text_check.h"

#include <strings.h>

#include <algorithm>
#include <array>

#include "ctl/ofp/flow_text.h"
#include "ctl/ofp/ovs.h"

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
  return {};
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

}  // namespace

result<std::string> checked_text(std::string_view text) {
  if (text.size() > text_max) {
    return fail(errc::invalid, "", "longer than " + std::to_string(text_max) + " characters");
  }
  if (contains(text, std::string_view("\0", 1))) {
    return fail(errc::invalid, "", "there is a character of code 0 in it");
  }
  return std::string(text);
}

result<void> check_actions(std::string text) {
  std::size_t n_actions = 0;
  return check_list(text.data(), n_actions, false);
}

result<void> check_bucket(std::string text) {
  std::size_t n_actions = 0;
  char* rest = text.data();
  char *name, *value;
  while (ofputil_parse_key_value(&rest, &name, &value)) {
    if (strcasecmp(name, "bucket_id") == 0) {
      return fail(errc::unsupported, name, "OpenFlow 1.3 gives buckets no numbers");
    }
    if (strcasecmp(name, "weight") == 0 || strcasecmp(name, "watch_port") == 0 ||
        strcasecmp(name, "watch_group") == 0) {
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

error library_error(char* said) {
  const ovs_error_text text(said);
  return {errc::invalid, "", text.get()};
}

}  // namespace coua::ofp
