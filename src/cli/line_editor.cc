// SPDX-License-Identifier: Apache-2.0
#include "cli/line_editor.h"

#include <histedit.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "base/check.h"

namespace coua::cli {

struct line_editor::state {
  const char* prompt;
  completer_of_words complete;
  EditLine* editor = nullptr;
  History* lines = nullptr;
  bool is_dropped = false;  // the line, by Ctrl-C
};

namespace {

constexpr int history_lines = 1000;

line_editor::state& state_of(EditLine* editor) {
  void* state = nullptr;
  el_get(editor, EL_CLIENTDATA, &state);
  return *static_cast<line_editor::state*>(state);
}

char* prompt_of(EditLine* editor) {
  return const_cast<char*>(state_of(editor).prompt);  // libedit does not write to it
}

void show(const std::vector<candidate>& candidates) {
  std::size_t width = 0;
  for (const candidate& each : candidates) width = std::max(width, each.word.size());
  std::fputc('\n', stdout);
  for (const candidate& each : candidates) {
    const std::string gap(each.help.empty() ? 0 : width + 2 - each.word.size(), ' ');
    std::printf("%s%s%s\n", each.word.c_str(), gap.c_str(), each.help.c_str());
  }
  std::fflush(stdout);
}

unsigned char on_tab(EditLine* editor, int) {
  const LineInfo* line = el_line(editor);
  const std::string begun(line->buffer, line->cursor);
  const continuation next = continue_line(begun, state_of(editor).complete);
  if (!next.shown.empty()) {
    show(next.shown);
    return CC_REDISPLAY;
  }
  if (next.text.empty()) return CC_REFRESH_BEEP;
  el_deletestr(editor, static_cast<int>(next.n_replaced));
  return el_insertstr(editor, next.text.c_str()) == 0 ? CC_REFRESH : CC_REFRESH_BEEP;
}

unsigned char on_ctrl_c(EditLine* editor, int) {
  state_of(editor).is_dropped = true;
  return CC_EOF;
}

unsigned char on_ctrl_z(EditLine*, int) {
  raise(SIGTSTP);  // libedit gives the terminal back before, and takes it again afterwards
  return CC_REDISPLAY;
}

}  // namespace

line_editor::line_editor(const char* prompt, const std::vector<std::string>& history,
                         completer_of_words complete)
    : state_(std::make_unique<state>()) {
  state& s = *state_;
  s.prompt = prompt;
  s.complete = std::move(complete);
  s.lines = history_init();
  s.editor = el_init("coua", stdin, stdout, stderr);
  COUA_CHECK(s.lines != nullptr && s.editor != nullptr);
  HistEvent event;
  ::history(s.lines, &event, H_SETSIZE, history_lines);
  ::history(s.lines, &event, H_SETUNIQUE, 1);
  el_set(s.editor, EL_CLIENTDATA, &s);
  el_set(s.editor, EL_PROMPT, prompt_of);
  el_set(s.editor, EL_EDITOR, "emacs");
  el_set(s.editor, EL_SIGNAL, 1);
  el_set(s.editor, EL_HIST, ::history, s.lines);
  el_set(s.editor, EL_ADDFN, "coua-complete", "completes a word", on_tab);
  el_set(s.editor, EL_BIND, "^I", "coua-complete", nullptr);
  // Here Ctrl-C is a key: a signal that comes between two reads would be lost.
  el_set(s.editor, EL_SETTY, "-d", "-isig", nullptr);
  el_set(s.editor, EL_ADDFN, "coua-drop", "drops the line", on_ctrl_c);
  el_set(s.editor, EL_BIND, "^C", "coua-drop", nullptr);
  el_set(s.editor, EL_ADDFN, "coua-stop", "stops the process", on_ctrl_z);
  el_set(s.editor, EL_BIND, "^Z", "coua-stop", nullptr);
  el_set(s.editor, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  el_source(s.editor, nullptr);  // ~/.editrc: the user's own keys
  for (const std::string& line : history) remember(line);
}

line_editor::~line_editor() {
  el_end(state_->editor);
  history_end(state_->lines);
}

std::optional<std::string> line_editor::read() {
  int n = 0;
  state_->is_dropped = false;
  const char* line = el_gets(state_->editor, &n);
  if (line != nullptr && n > 0 && !state_->is_dropped) {
    std::string text(line, static_cast<std::size_t>(n));
    text.resize(text.find_last_not_of(" \t\r\n") + 1);  // completion leaves blanks behind
    return text;
  }
  std::fputs(state_->is_dropped ? "^C\n" : "\n", stdout);
  std::fflush(stdout);
  if (state_->is_dropped) return "";
  return std::nullopt;
}

void line_editor::remember(const std::string& line) {
  HistEvent event;
  ::history(state_->lines, &event, H_ENTER, line.c_str());
}

}  // namespace coua::cli
