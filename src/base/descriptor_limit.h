// SPDX-License-Identifier: Apache-2.0
//
// How many files, sockets and devices this process may have open (RLIMIT_NOFILE).
#pragma once

#include <cstddef>

namespace coua {

/// Makes it as many as the system lets it be without a privilege.
void raise_descriptor_limit() noexcept;
std::size_t descriptor_limit() noexcept;

}  // namespace coua
