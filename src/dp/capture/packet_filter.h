// SPDX-License-Identifier: Apache-2.0
//
// A filter in libpcap's language ("tcp port 80 and host 10.0.0.1"), compiled to classic BPF and run
// by libpcap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

struct bpf_program;

namespace coua::dp {

/// Characters of a filter. libpcap takes a time that grows with their square: 0.3 s for so many,
/// and nothing can interrupt it.
inline constexpr std::size_t filter_text_max = 16'384;

class packet_filter {
 public:
  /// Empty text: every frame matches. Errors: invalid, with libpcap's reason. May wait for name
  /// servers if the text has names of hosts. Any thread.
  static result<packet_filter> compile(const std::string& text);

  bool is_empty() const noexcept { return !program_; }
  /// `stored` bytes are there of a frame of `length`; a filter that looks behind them does not
  /// match. Any thread.
  bool matches(const std::uint8_t* bytes, std::uint32_t stored,
               std::uint32_t length) const noexcept;

 private:
  struct release {
    void operator()(bpf_program* program) const;
  };
  std::unique_ptr<bpf_program, release> program_;
};

}  // namespace coua::dp
