// SPDX-License-Identifier: Apache-2.0
//
// Requests of any type out of a fuzzer's bytes, by the description of their fields: whatever the
// bytes are, the message is one that a client could send, and a new field is filled without a word
// here.
#pragma once

#include <google/protobuf/message.h>

#include <span>
#include <string_view>

#include "fuzz.h"

namespace coua::fuzz {

/// Sets some of the fields. `words` are texts that mean something to who reads the message.
void fill(google::protobuf::Message& message, input& from, std::span<const std::string_view> words);

}  // namespace coua::fuzz
