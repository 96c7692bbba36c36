// SPDX-License-Identifier: Apache-2.0
//
// No function of the C API sets errno, whatever the system says to it meanwhile.
#pragma once

#include <cerrno>

namespace coua {

/// Gives errno back, at the end of its scope, the number that it had at the start. For each
/// function of the API that takes or gives back memory, or calls the system otherwise.
class kept_errno {
 public:
  kept_errno() noexcept : number_(errno) {}
  ~kept_errno() { errno = number_; }
  kept_errno(const kept_errno&) = delete;
  kept_errno& operator=(const kept_errno&) = delete;

 private:
  const int number_;
};

}  // namespace coua
