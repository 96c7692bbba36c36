// SPDX-License-Identifier: Apache-2.0
//
// Whether a value fits where a text wants it. The library cuts off what is too much
// (nw_src=300.0.0.0 is 44.0.0.0 to it) and takes a negative number for a large one, and says
// nothing. So each value is looked at by the width and the form of what it is for, before the
// library sees it. What is no value at all ("any port") is left for the library to refuse.
//
// Every error is `invalid`, has the name, and says the value and the bound.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ctl/ofp/ovs.h"
#include "pipeline/model/field.h"

namespace coua::ofp {

enum class number_form {
  any_base,  // 10, 0xa, 012
  decimal,   // 10, 012 is 12
};

/// Of up to 16 digits; 16: it is a digit of no base.
unsigned digit(char c);

/// None: it is no number, or one of more than 128 bits.
std::optional<pipeline::value128> read_number(std::string_view text,
                                              number_form form = number_form::any_base);
result<void> check_at_most(std::string_view name, std::string_view text, pipeline::value128 last,
                           number_form form = number_form::any_base);
/// A number of so many bits.
result<void> check_number(std::string_view name, std::string_view text, unsigned n_bits,
                          number_form form = number_form::any_base);
/// "5" or "5/0xff". A mask may be -1, which is all bits.
result<void> check_masked(std::string_view name, std::string_view text, unsigned n_bits);
/// An address without a mask.
result<void> check_mac(std::string_view name, std::string_view text);
result<void> check_ipv4(std::string_view name, std::string_view text);

/// Words that count once: of several the library takes the last. Errors: invalid.
using seen_words = std::set<std::string>;
result<void> check_once(seen_words& seen, const std::string& name);

/// What a field is to have, with a mask or without.
result<void> check_value(const mf_field& of, std::string_view name, std::string_view text);

/// "reg0[4..7]", "reg0[]", "reg0". None: the library does not know it, and says so itself.
result<std::optional<mf_subfield>> read_bits(std::string_view text);
/// A value for them.
result<void> check_value(const mf_subfield& of, std::string_view name, std::string_view text);

}  // namespace coua::ofp
