// SPDX-License-Identifier: Apache-2.0
//
// Files for tests, in memory.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

namespace coua::setsep {

/// Has a path as long as it lives.
class memory_file {
 public:
  explicit memory_file(std::span<const std::uint8_t> content)
      : number_(memfd_create("coua-test", MFD_CLOEXEC)) {
    const auto n = static_cast<ssize_t>(content.size());
    if (number_ < 0 || write(number_, content.data(), content.size()) != n) {
      throw std::runtime_error("no file in memory");
    }
  }
  ~memory_file() { close(number_); }
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(number_); }
  int number() const { return number_; }

 private:
  const int number_;
};

}  // namespace coua::setsep
