// SPDX-License-Identifier: Apache-2.0
//
// TLS as the library uses it, and what it keeps to itself: it takes files that are none and says so
// only in its log, as it does with the reason why a connection ended.
#pragma once

#include <string>

#include "base/result.h"

namespace coua::ofp {

/// Keys for ssl: and pssl:, of the whole program. Errors: io, a file cannot be read; invalid, it is
/// not what it should be, or key and certificate do not belong together. At "key: /x.pem"; then
/// nothing is used.
result<void> use_tls(const std::string& key, const std::string& certificate,
                     const std::string& authority);

/// What TLS found wrong in this thread, since the last call: "certificate verify failed".
std::string take_tls_trouble();

}  // namespace coua::ofp
