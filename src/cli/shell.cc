// SPDX-License-Identifier: Apache-2.0
#include "cli/shell.h"

#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cli/history_file.h"
#include "cli/line_editor.h"
#include "cli/verbs.h"
#include "cli/words.h"

namespace coua::cli {
namespace {

/// Nothing: the line says to leave.
std::optional<int> run_line(runner& lines, std::vector<std::string> words) {
  if (words[0] == "coua") words.erase(words.begin());  // as examples have it
  if (words.size() == 1 && (words[0] == "exit" || words[0] == "quit")) return std::nullopt;
  const int status = lines.run(words, [&](const invocation&) {
    return lines.complain({errc::invalid, "coua", "a verb is missing; 'help' lists them"},
                          exit_usage);
  });
  std::clearerr(stdout);
  return status;
}

completion complete_line(runner& lines, const std::vector<std::string>& words) {
  completion found = complete(coua_command(), words, [&](thing what, const auto& given) {
    invocation call{.values = given};
    for (const auto& each : lines.defaults()) call.values.insert(each);
    return names_of(what, lines.daemon_of(call));
  });
  if (words.size() > 1) return found;
  for (const char* word : {"exit", "quit"}) {
    if (std::string_view(word).starts_with(words[0]))
      found.words.push_back({word, "leaves, as Ctrl-D does"});
  }
  return found;
}

std::string_view without_end(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// While it lives, Ctrl-C between two verbs does nothing.
class ignored_interrupt {
 public:
  ignored_interrupt() : before_(std::signal(SIGINT, SIG_IGN)) {}
  ~ignored_interrupt() { std::signal(SIGINT, before_); }
  ignored_interrupt(const ignored_interrupt&) = delete;
  ignored_interrupt& operator=(const ignored_interrupt&) = delete;

 private:
  void (*before_)(int);
};

}  // namespace

int run_shell(runner& lines, const invocation& given) {
  std::setlocale(LC_CTYPE, "");  // what a character is
  const ignored_interrupt quiet;
  lines.stay(given.values, false);
  history_file file(history_path());
  const std::vector<std::string> before = file.read();
  line_editor editor("coua> ", before,
                     [&](const auto& words) { return complete_line(lines, words); });
  client& daemon = lines.daemon_of(given);
  std::printf("coua %s, couad at %s. 'help' lists the verbs, TAB completes, Ctrl-D leaves.\n",
              COUA_VERSION, daemon.socket().c_str());
  if (const auto there = daemon.probe(); !there)
    std::fprintf(stderr, "coua: %s\n", there.error().message().c_str());
  std::string last = before.empty() ? "" : before.back();
  while (const std::optional<std::string> line = editor.read()) {
    const auto words = split_words(without_end(*line));
    // A line that begins with a blank is not to be kept.
    if (!line->empty() && line->front() != ' ' && *line != last) {
      editor.remember(last = *line);
      file.add(*line);
    }
    // A verb may have read the input ("config apply -") up to Ctrl-D. For the next one it goes on.
    std::clearerr(stdin);
    if (!words) {
      lines.complain(words.error(), exit_usage);
    } else if (!words->empty() && !run_line(lines, *words)) {
      break;
    }
  }
  return exit_ok;
}

std::optional<int> run_script(runner& lines, const invocation& given, const char* name) {
  lines.stay(given.values, true);
  char* text = nullptr;
  std::size_t room = 0;
  std::optional<int> status;
  for (unsigned number = 1; status.value_or(exit_ok) == exit_ok; ++number) {
    const ssize_t n = getline(&text, &room, stdin);
    if (n < 0) {
      if (std::ferror(stdin) != 0)
        status = lines.complain({errc::io, name, std::strerror(errno)}, exit_failed);
      break;
    }
    const auto words = split_words(without_end({text, static_cast<std::size_t>(n)}));
    if (!words) {
      status = lines.complain(words.error(), exit_usage);
    } else if (!words->empty()) {
      const std::optional<int> done = run_line(lines, *words);
      if (!done) {
        status = exit_ok;
        break;
      }
      status = done;
    }
    if (status.value_or(exit_ok) != exit_ok)
      std::fprintf(stderr, "coua: %s:%u: stopped here\n", name, number);
  }
  std::free(text);
  return status;
}

}  // namespace coua::cli
