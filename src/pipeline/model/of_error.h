// SPDX-License-Identifier: Apache-2.0
//
// Why the model refuses a request: the error that OpenFlow 1.3 has for it, what it is about, and
// the reason in words. An of_error is the pair of numbers that stands in an error message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "base/result.h"

namespace coua::pipeline {

/// type << 16 | code, as in the specification (ofp_error_type and the codes of each type); of
/// Nicira's, wire_type_experimenter and its own type.
enum class of_error : std::uint32_t {
  bad_request_bad_len = 1 << 16 | 6,
  bad_request_bad_port = 1 << 16 | 11,
  bad_action_type = 2 << 16 | 0,
  bad_action_out_port = 2 << 16 | 4,
  bad_action_argument = 2 << 16 | 5,
  bad_action_too_many = 2 << 16 | 7,
  bad_action_out_group = 2 << 16 | 9,
  bad_action_match_inconsistent = 2 << 16 | 10,
  bad_action_tag = 2 << 16 | 12,
  bad_action_set_type = 2 << 16 | 13,
  bad_action_set_argument = 2 << 16 | 15,
  bad_instruction_table_id = 3 << 16 | 2,
  bad_match_wildcards = 4 << 16 | 5,
  bad_match_field = 4 << 16 | 6,
  bad_match_value = 4 << 16 | 7,
  bad_match_mask = 4 << 16 | 8,
  bad_match_prereq = 4 << 16 | 9,
  bad_match_dup_field = 4 << 16 | 10,
  flow_mod_table_full = 5 << 16 | 1,
  flow_mod_bad_table_id = 5 << 16 | 2,
  flow_mod_overlap = 5 << 16 | 3,
  flow_mod_bad_command = 5 << 16 | 6,
  group_mod_group_exists = 6 << 16 | 0,
  group_mod_invalid_group = 6 << 16 | 1,
  group_mod_out_of_groups = 6 << 16 | 3,
  group_mod_out_of_buckets = 6 << 16 | 4,
  group_mod_chaining_unsupported = 6 << 16 | 5,
  group_mod_watch_unsupported = 6 << 16 | 6,
  group_mod_loop = 6 << 16 | 7,
  group_mod_unknown_group = 6 << 16 | 8,
  group_mod_chained_group = 6 << 16 | 9,
  group_mod_bad_type = 6 << 16 | 10,
  group_mod_bad_command = 6 << 16 | 11,
  group_mod_bad_bucket = 6 << 16 | 12,
  group_mod_bad_watch = 6 << 16 | 13,
  port_mod_bad_port = 7 << 16 | 0,
  meter_mod_meter_exists = 12 << 16 | 1,
  meter_mod_invalid_meter = 12 << 16 | 2,
  meter_mod_unknown_meter = 12 << 16 | 3,
  meter_mod_bad_command = 12 << 16 | 4,
  meter_mod_bad_flags = 12 << 16 | 5,
  meter_mod_bad_rate = 12 << 16 | 6,
  meter_mod_bad_burst = 12 << 16 | 7,
  meter_mod_bad_band = 12 << 16 | 8,
  meter_mod_bad_band_value = 12 << 16 | 9,
  meter_mod_out_of_meters = 12 << 16 | 10,
  meter_mod_out_of_bands = 12 << 16 | 11,
  // Of Nicira's extensions, which have errors of their own.
  nicira_bad_conjunction = 0xffffU << 16 | 15,
};

/// Who has defined an error with this type of all experimenters.
inline constexpr std::uint16_t wire_type_experimenter = 0xffff;
inline constexpr std::uint32_t experimenter_nicira = 0x2320;

constexpr std::uint16_t wire_type(of_error error) {
  return static_cast<std::uint16_t>(static_cast<std::uint32_t>(error) >> 16);
}
constexpr std::uint16_t wire_code(of_error error) {
  return static_cast<std::uint16_t>(static_cast<std::uint32_t>(error));
}

struct of_failure {
  of_error code;
  std::string where;          // the object: "table 3, priority 10, tcp_dst=80"
  std::string what;           // the reason
  std::size_t operation = 0;  // of a bundle, counted from 1 and named in `where`; 0: no bundle

  std::string message() const { return where.empty() ? what : where + ": " + what; }
};

template <typename T>
using of_result = tl::expected<T, of_failure>;

/// `return refuse(of_error::flow_mod_overlap, "table 3, ...", "...")`
inline tl::unexpected<of_failure> refuse(of_error code, std::string where, std::string what) {
  return tl::unexpected<of_failure>(of_failure{code, std::move(where), std::move(what), 0});
}

/// The same error for those who do not speak OpenFlow.
inline error to_error(const of_failure& failure) {
  errc code = errc::invalid;
  switch (failure.code) {
    case of_error::flow_mod_table_full:
    case of_error::group_mod_out_of_groups:
    case of_error::group_mod_out_of_buckets:
    case of_error::meter_mod_out_of_meters:
    case of_error::meter_mod_out_of_bands: code = errc::no_room; break;
    case of_error::flow_mod_overlap:
    case of_error::group_mod_group_exists:
    case of_error::meter_mod_meter_exists: code = errc::exists; break;
    case of_error::group_mod_unknown_group:
    case of_error::meter_mod_unknown_meter:
    case of_error::bad_request_bad_port:
    case of_error::port_mod_bad_port: code = errc::not_found; break;
    default: break;
  }
  return error{code, failure.where, failure.what};
}

}  // namespace coua::pipeline
