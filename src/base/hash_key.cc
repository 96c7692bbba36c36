// SPDX-License-Identifier: Apache-2.0
#include "base/hash_key.h"

#include <sys/random.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace coua {

result<void> fill_random(std::span<std::uint8_t> bytes) {
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = getrandom(bytes.data() + filled, bytes.size() - filled, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return fail(errc::io, "getrandom", std::strerror(errno));
    filled += static_cast<std::size_t>(got);
  }
  return {};
}

result<hash_key> draw_hash_key() {
  hash_key key;
  if (result<void> filled = fill_random(key); !filled) return tl::unexpected(filled.error());
  return key;
}

}  // namespace coua
