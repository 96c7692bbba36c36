// SPDX-License-Identifier: Apache-2.0
#include "cli/complete.h"

#include <algorithm>
#include <utility>

namespace coua::cli {
namespace {

bool is_option(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

/// Reads the words before the cursor as grammar.cc does, but forgives what is wrong in them.
class completer {
 public:
  completer(const command& of, const name_source& names) : command_(of), names_(names) {}

  void take(const std::string& word) {
    if (pending_ != nullptr) {
      given_[pending_->name] = word;
      pending_ = nullptr;
    } else if (word == "--") {
      only_arguments_ = true;
    } else if (is_option(word) && !only_arguments_) {
      take_option(word);
    } else if (verb_ != nullptr) {
      ++n_arguments_;
    } else if (path_.empty() && !helping_ && word == "help") {
      helping_ = true;
    } else {
      path_ += (path_.empty() ? "" : " ") + word;
      for (const verb& each : command_.verbs) {
        if (each.path == path_ || (!each.alias.empty() && alias_of(each) == path_)) verb_ = &each;
      }
    }
  }

  completion offer(const std::string& begun) {
    begun_ = begun;
    if (pending_ != nullptr) {
      offer_values(*pending_, "", begun);
    } else if (!only_arguments_ && begun.starts_with("-")) {
      const std::size_t equals = begun.find('=');
      if (equals == std::string::npos) {
        offer_options();
      } else if (const parameter* p = find(begun.substr(2, equals - 2), 0)) {
        offer_values(*p, begun.substr(0, equals + 1), begun.substr(equals + 1));
      }
    } else if (verb_ == nullptr) {
      offer_verbs();
    } else if (!helping_ && n_arguments_ < verb_->arguments.size()) {
      offer_values(verb_->arguments[n_arguments_], "", begun);
    }
    return std::move(out_);
  }

 private:
  static std::string alias_of(const verb& each) {
    return each.path.substr(0, each.path.find(' ') + 1) + each.alias;
  }

  const parameter* find(std::string_view name, char letter) const {
    for (const auto* options : {verb_ != nullptr ? &verb_->options : nullptr, &command_.options}) {
      if (options == nullptr) continue;
      for (const parameter& p : *options) {
        if (letter != 0 ? p.letter == letter : p.name == name) return &p;
      }
    }
    return nullptr;
  }

  void take_option(const std::string& word) {
    const bool is_long = word[1] == '-';
    const std::size_t equals = is_long ? word.find('=') : std::string::npos;
    const parameter* p = is_long ? find(std::string_view(word).substr(
                                            2, equals == std::string::npos ? equals : equals - 2),
                                        0)
                                 : find("", word[1]);
    if (p == nullptr) return;
    const bool has_value = equals != std::string::npos || (!is_long && word.size() > 2);
    given_[p->name] = equals != std::string::npos ? word.substr(equals + 1)
                      : has_value                 ? word.substr(2)
                                                  : "";
    if (p->type != kind::flag && !has_value) pending_ = p;
  }

  void offer_word(const std::string& word, const std::string& help) {
    const auto same = [&](const candidate& each) { return each.word == word; };
    if (word.starts_with(begun_) && std::ranges::none_of(out_.words, same)) {
      out_.words.push_back({word, help});
    }
  }

  /// `front` is what of the word stands before the value.
  void offer_values(const parameter& p, std::string front, const std::string& value) {
    if (p.type == kind::on_off) {
      for (const char* word : {"on", "off"}) offer_word(front + word, "");
    }
    for (const std::string& word : p.choices) offer_word(front + word, "");
    if (p.names == thing::file) out_.files = true;
    if (p.names != thing::port && p.names != thing::bridge) return;
    if (p.type == kind::words && value.find(',') != std::string::npos) {
      front += value.substr(0, value.rfind(',') + 1);
    }
    for (const std::string& name : names_(p.names, given_)) offer_word(front + name, "");
  }

  void offer_options() {
    if (verb_ != nullptr) offer_those(verb_->options);
    offer_those(command_.options);
    offer_word("--help", "says what it is");
  }
  void offer_those(const std::vector<parameter>& options) {
    for (const parameter& p : options) {
      if (!given_.contains(p.name)) offer_word("--" + p.name, p.help);
    }
  }

  void offer_verbs() {
    const std::string front = path_.empty() ? "" : path_ + " ";
    for (const verb& each : command_.verbs) {
      if (!each.path.starts_with(front)) continue;
      const std::string rest = each.path.substr(front.size());
      const std::size_t end = rest.find(' ');
      const bool whole = end == std::string::npos;
      offer_word(rest.substr(0, end), whole ? each.summary : summary_of(rest.substr(0, end)));
    }
    if (path_.empty() && !helping_) offer_word("help", "says what a verb does");
  }
  std::string summary_of(const std::string& group) const {
    for (const auto& [name, summary] : command_.groups) {
      if (name == group) return summary;
    }
    return "";
  }

  const command& command_;
  const name_source& names_;
  const verb* verb_ = nullptr;
  const parameter* pending_ = nullptr;  // its value comes next
  std::map<std::string, std::string> given_;
  std::string path_, begun_;
  std::size_t n_arguments_ = 0;
  bool only_arguments_ = false, helping_ = false;
  completion out_;
};

// Where readline splits words at '=' and ':' (COMP_WORDBREAKS) it wants the part behind; COMP_LINE
// is not split.
constexpr std::string_view bash_script = R"(# Completion of COMMAND for bash.
_COMMAND() {
  local line=${COMP_LINE:0:COMP_POINT} words word
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  local begun=${words[-1]}
  local before='' mark part
  for mark in = :; do
    [[ $COMP_WORDBREAKS == *"$mark"* && $begun == *"$mark"* ]] || continue
    part=${begun%"$mark"*}$mark
    ((${#part} > ${#before})) && before=$part
  done
  COMPREPLY=()
  while IFS=$'\t' read -r word _; do
    if [[ $word == :files ]]; then
      compopt -o filenames 2>/dev/null
      while read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "${begun#"$before"}")
    else
      COMPREPLY+=("${word#"$before"}")
    fi
  done < <("${words[0]}" complete -- "${words[@]:1}" 2>/dev/null)
}
complete -F _COMMAND COMMAND
)";

constexpr std::string_view zsh_script = R"(#compdef COMMAND
# Completion of COMMAND for zsh.
_COMMAND() {
  local -a found
  local word help files= status_=1
  while IFS=$'\t' read -r word help; do
    if [[ $word == :files ]]; then
      files=1
    else
      found+=("${word//:/\\:}${help:+:$help}")
    fi
  done < <("${(Q)words[1]}" complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)
  (( $#found )) && _describe COMMAND found && status_=0
  [[ -n $files ]] && _files && status_=0
  return status_
}
if [[ ${funcstack[1]} == _COMMAND ]]; then _COMMAND "$@"; else compdef _COMMAND COMMAND; fi
)";

}  // namespace

completion complete(const command& command, const std::vector<std::string>& words,
                    const name_source& names) {
  completer of(command, names);
  if (words.empty()) return of.offer("");
  for (std::size_t i = 0; i + 1 < words.size(); ++i) of.take(words[i]);
  return of.offer(words.back());
}

std::string script_of(const command& command, std::string_view shell) {
  std::string script(shell == "bash" ? bash_script : shell == "zsh" ? zsh_script : "");
  constexpr std::string_view mark = "COMMAND";
  for (std::size_t at = 0; (at = script.find(mark, at)) != std::string::npos;) {
    script.replace(at, mark.size(), command.name);
    at += command.name.size();
  }
  return script;
}

}  // namespace coua::cli
