// SPDX-License-Identifier: Apache-2.0
//
// Texts in messages to the daemon. gRPC sends none that is not UTF-8: it prints a line of its own,
// and the daemon gets something else.
#pragma once

#include <google/protobuf/message.h>

#include "base/result.h"

namespace coua::cli {

/// To be asked before the message is sent. Errors: invalid, with the field's name.
result<void> check_texts(const google::protobuf::Message& message);

}  // namespace coua::cli
