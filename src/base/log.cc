// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace coua {
namespace {

// Relaxed wherever it is used: nothing hangs on when a change is seen.
std::atomic<log_level> highest_level{log_level::info};

constexpr std::array levels{log_level::error, log_level::warning, log_level::info,
                            log_level::debug};

/// JOURNAL_STREAM holds device and inode of the journal's socket. A process whose stderr was
/// redirected inherits the variable too, so it is compared with what stderr is.
bool stderr_is_journal() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat status;
  if (stream == nullptr || fstat(STDERR_FILENO, &status) != 0) return false;
  const std::string own = std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
  return own == stream;
}

const char* syslog_prefix(log_level level) {
  switch (level) {
    case log_level::error: return "<3>";
    case log_level::warning: return "<4>";
    case log_level::info: return "<6>";
    case log_level::debug: return "<7>";
  }
  return "<6>";
}

std::string line_start(log_level level) {
  static const bool journal = stderr_is_journal();
  if (journal) return syslog_prefix(level);
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  tm utc;
  gmtime_r(&now.tv_sec, &utc);
  std::array<char, 32> date;
  std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "%s.%03ldZ %s: ", date.data(), now.tv_nsec / 1'000'000,
                to_string(level));
  return text.data();
}

void write_line(log_level level, const char* format, va_list arguments) {
  if (!log_enabled(level)) return;
  const int saved_errno = errno;
  va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  std::string line = line_start(level);
  const std::size_t start = line.size();
  if (length > 0) {
    line.resize(start + static_cast<std::size_t>(length) + 1);
    errno = saved_errno;  // for %m
    std::vsnprintf(line.data() + start, static_cast<std::size_t>(length) + 1, format, arguments);
    line.pop_back();
  }
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  }
  line += '\n';
  // A line that cannot be written has nowhere else to go.
  ssize_t written;
  do written = write(STDERR_FILENO, line.data(), line.size());
  while (written < 0 && errno == EINTR);
  errno = saved_errno;
}

}  // namespace

const char* to_string(log_level level) {
  switch (level) {
    case log_level::error: return "error";
    case log_level::warning: return "warning";
    case log_level::info: return "info";
    case log_level::debug: return "debug";
  }
  return "unknown";
}

bool parse_log_level(std::string_view word, log_level& level) {
  for (const log_level known : levels) {
    if (word != to_string(known)) continue;
    level = known;
    return true;
  }
  return false;
}

void set_log_level(log_level highest) noexcept {
  highest_level.store(highest, std::memory_order_relaxed);
}

log_level highest_log_level() noexcept { return highest_level.load(std::memory_order_relaxed); }

bool log_enabled(log_level level) noexcept { return level <= highest_log_level(); }

void log(log_level level, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_line(level, format, arguments);
  va_end(arguments);
}

void log_error(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_line(log_level::error, format, arguments);
  va_end(arguments);
}

void log_warning(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_line(log_level::warning, format, arguments);
  va_end(arguments);
}

void log_info(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_line(log_level::info, format, arguments);
  va_end(arguments);
}

void log_debug(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_line(log_level::debug, format, arguments);
  va_end(arguments);
}

}  // namespace coua
