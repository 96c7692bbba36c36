// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/hash_key.h"

namespace coua {

/// Block `counter` of the ChaCha20 stream (RFC 8439, section 2.3) of a key, with a nonce of zero.
void chacha20_block(const hash_key& key, std::uint32_t counter, std::uint32_t (&block)[16]);

}  // namespace coua
