// SPDX-License-Identifier: Apache-2.0
#include "cli/history_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/replace_file.h"

namespace coua::cli {
namespace {

constexpr std::size_t kept_lines = 1000;
constexpr std::size_t most_lines = 2 * kept_lines;  // before the file is written anew

}  // namespace

std::string history_path() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && state[0] == '/') return std::string(state) + "/coua/history";
  const char* home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/') return std::string(home) + "/.local/state/coua/history";
  return "";
}

std::vector<std::string> history_file::read() {
  std::vector<std::string> lines;
  std::ifstream file(path_);
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) lines.push_back(line);
  }
  const bool is_long = lines.size() > most_lines;
  if (lines.size() > kept_lines) {
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(kept_lines));
  }
  if (is_long) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    static_cast<void>(replace_file(path_, text));
  }
  return lines;
}

void history_file::add(const std::string& line) {
  if (path_.empty()) return;
  std::error_code none;
  const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  if (std::filesystem::create_directories(folder, none)) chmod(folder.c_str(), 0700);
  const int fd = open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return;
  // One call: lines of shells side by side do not mix.
  const std::string text = line + "\n";
  static_cast<void>(!::write(fd, text.data(), text.size()));
  close(fd);
}

}  // namespace coua::cli
