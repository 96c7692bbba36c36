// SPDX-License-Identifier: Apache-2.0
//
// What the fuzz targets share. A target is one function of bytes; libFuzzer calls it (clang), or
// replay_main.cc with each file of a corpus (any compiler).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace coua::fuzz {

/// Takes values from the input, from front to back; zeros when it is used up.
class input {
 public:
  input(const std::uint8_t* data, std::size_t size) : at_(data), left_(size) {}

  template <typename T>
  T take() {
    T value{};
    std::size_t n = left_ < sizeof value ? left_ : sizeof value;
    std::memcpy(&value, at_, n);
    at_ += n;
    left_ -= n;
    return value;
  }
  bool empty() const { return left_ == 0; }
  std::size_t left() const { return left_; }

 private:
  const std::uint8_t* at_;
  std::size_t left_;
};

}  // namespace coua::fuzz
