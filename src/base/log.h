// SPDX-License-Identifier: Apache-2.0
//
// Lines for the operator, on stderr. Each is one write(), so lines of several threads do not mix.
// Never called per packet.
//
//   a terminal or a file   2026-01-31T12:00:00.123Z warning: port p0: link is down
//   the journal            <4>port p0: link is down          (journald adds time and name)
#pragma once

#include <string>
#include <string_view>

namespace coua {

enum class log_level { error, warning, info, debug };
const char* to_string(log_level level);

/// False when the word is none of error, warning, info, debug.
bool parse_log_level(std::string_view word, log_level& level);

/// Lines above this level are dropped; `info` at start. Any thread.
void set_log_level(log_level highest) noexcept;
log_level highest_log_level() noexcept;
bool log_enabled(log_level level) noexcept;

/// One line, printf-like, without a newline at its end. Control characters become spaces: text from
/// outside cannot forge a line. Any thread.
[[gnu::format(printf, 2, 3)]] void log(log_level level, const char* format, ...);
[[gnu::format(printf, 1, 2)]] void log_error(const char* format, ...);
[[gnu::format(printf, 1, 2)]] void log_warning(const char* format, ...);
[[gnu::format(printf, 1, 2)]] void log_info(const char* format, ...);
[[gnu::format(printf, 1, 2)]] void log_debug(const char* format, ...);

}  // namespace coua
