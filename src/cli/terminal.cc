// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace coua::cli {
namespace {

constexpr const char* enter = "\033[?1049h\033[?25l";  // the second page, without a cursor
constexpr const char* leave = "\033[?25h\033[?1049l";
constexpr const char* home = "\033[H";
constexpr const char* reverse = "\033[7m";
constexpr const char* plain = "\033[m";
constexpr const char* clear_line = "\033[K";
constexpr const char* clear_rest = "\033[J";

void say(const char* sequence) {
  std::fputs(sequence, stdout);
  std::fflush(stdout);
}

}  // namespace

result<terminal> terminal::create() {
  termios before{};
  const char* kind = std::getenv("TERM");
  const bool is_dumb = kind == nullptr || kind[0] == '\0' || std::strcmp(kind, "dumb") == 0;
  if (isatty(STDOUT_FILENO) != 1 || tcgetattr(STDIN_FILENO, &before) != 0 || is_dumb)
    return fail(errc::unsupported, "terminal", "cannot be drawn on; use --batch");
  termios keys = before;
  // Keys that would end or stop the process come as bytes, for it must leave its page; so does
  // Ctrl-S.
  keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
  keys.c_iflag &= ~static_cast<tcflag_t>(IXON);
  keys.c_cc[VMIN] = 1;
  keys.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSANOW, &keys);
  say(enter);
  return terminal(before);
}

terminal::terminal(terminal&& other) noexcept
    : before_(other.before_), owns_(std::exchange(other.owns_, false)) {}

terminal::~terminal() {
  if (!owns_) return;
  say(leave);
  tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

terminal_size terminal::size() {
  winsize of{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &of) != 0 || of.ws_col == 0 || of.ws_row == 0) return {};
  return {of.ws_col, of.ws_row};
}

result<void> terminal::draw(interruption& stop, const std::vector<std::string>& lines,
                            std::size_t n_bright) {
  const terminal_size of = size();
  std::string page = home;
  for (std::size_t i = 0; i < lines.size() && i < of.lines; ++i) {
    if (i > 0) page += "\r\n";
    const bool is_bright = i < n_bright;
    if (is_bright) page += reverse;
    page += lines[i].substr(0, of.columns);
    if (is_bright && lines[i].size() < of.columns) page.append(of.columns - lines[i].size(), ' ');
    if (is_bright) page += plain;
    // In the last column the cursor stands on what was written.
    if (lines[i].size() < of.columns && !is_bright) page += clear_line;
  }
  if (lines.size() < of.lines) (page += "\r\n") += clear_rest;
  const auto written = stop.write(STDOUT_FILENO, "standard output", page);
  if (!written) return tl::unexpected(written.error());
  return {};
}

int terminal::key(const interruption& stop, int wait_ms) {
  pollfd both[2] = {{STDIN_FILENO, POLLIN, 0}, {stop.fd(), POLLIN, 0}};
  if (poll(both, 2, wait_ms) <= 0 || both[1].revents != 0) return 0;
  char byte = 0;
  // The end of the input is the end of the terminal.
  return read(STDIN_FILENO, &byte, 1) == 1 ? byte : 'q';
}

}  // namespace coua::cli
