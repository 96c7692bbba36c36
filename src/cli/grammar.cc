// SPDX-License-Identifier: Apache-2.0
#include "cli/grammar.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/flood_limit.h"
#include "base/nearest.h"
#include "base/size.h"
#include "net/mac.h"

namespace coua::cli {
namespace {

template <typename Number>
bool parse_whole(std::string_view text, Number& out) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), out);
  return status == std::errc{} && end == text.data() + text.size() && !text.empty();
}

std::string range(const parameter& p) {
  return std::to_string(p.low) + " to " + std::to_string(p.high);
}

bool is_word_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

std::string list(const std::vector<std::string>& words) {
  std::string all;
  for (const auto& word : words) all += (all.empty() ? "" : ", ") + word;
  return all;
}

// Empty when the value fits, else the reason.
std::string check(const parameter& p, const std::string& value) {
  const std::string quoted = "'" + value + "'";
  switch (p.type) {
    case kind::flag:
    case kind::text: {
      if (value.empty()) return "is empty";
      const bool good = p.choices.empty() || std::ranges::find(p.choices, value) != p.choices.end();
      return good ? "" : quoted + " is none of " + list(p.choices);
    }
    case kind::number:
    case kind::size: {
      const auto number = parse_size(value);
      std::uint64_t plain = 0;
      const bool good = p.type == kind::size ? number.has_value() : parse_whole(value, plain);
      const std::uint64_t n = p.type == kind::size && number ? *number : plain;
      if (!good)
        return quoted + (p.type == kind::size ? " is not a count such as 1000, 64K or 10M"
                                              : " is not a number");
      return n < p.low || n > p.high ? value + " is not from " + range(p) : "";
    }
    case kind::limit: {
      const auto limit = parse_flood_limit(value);
      return limit ? check_flood_limit(*limit) : limit.error().what;
    }
    case kind::real: {
      double number = 0;
      if (!parse_whole(std::string_view(value), number) || !std::isfinite(number))
        return quoted + " is not a number";
      const bool inside =
          number >= static_cast<double>(p.low) && number <= static_cast<double>(p.high);
      return inside && number > 0
                 ? ""
                 : value + " is not more than 0 and at most " + std::to_string(p.high);
    }
    case kind::on_off:
      return is_word_of(value, {"on", "off", "yes", "no", "true", "false"})
                 ? ""
                 : quoted + " is neither on nor off";
    case kind::mac:
      return net::parse_mac(value) ? "" : quoted + " is not an address such as 02:00:00:00:00:01";
    case kind::vlans: {
      const auto vlans = parse_vlans(value);
      return vlans ? "" : vlans.error().what;
    }
    case kind::words: {
      const auto parts = split(value, ',');
      const bool gap = std::ranges::any_of(parts, [](const auto& word) { return word.empty(); });
      return gap ? quoted + " has an empty part" : "";
    }
  }
  return "";
}

// Reads words one after another against the parameters of the verb and of the command.
class reader {
 public:
  reader(const command& c, const std::vector<std::string>& words) : command_(c), words_(words) {}

  result<invocation> run(std::optional<std::string>& help) {
    if (auto verb = find_verb(help); !verb) return tl::unexpected(verb.error());
    if (help) return out_;
    for (; next_ < words_.size(); next_++) {
      const std::string& word = words_[next_];
      const bool option = word.size() > 1 && word[0] == '-' && !only_arguments_;
      auto done = option ? read_option(word, help) : read_argument(word);
      if (!done) return tl::unexpected(done.error());
      if (help) return out_;
    }
    return finish();
  }

 private:
  std::string place() const {
    return command_.name + (out_.what != nullptr ? " " + out_.what->path : "");
  }
  tl::unexpected<error> refuse(std::string what) const {
    return fail(errc::invalid, place(), std::move(what));
  }

  // The verb's words come first; options of the command may stand before them.
  result<void> find_verb(std::optional<std::string>& help) {
    while (next_ < words_.size() && words_[next_].size() > 1 && words_[next_][0] == '-') {
      if (auto done = read_option(words_[next_], help); !done) return done;
      if (help) return {};
      next_++;
    }
    if (command_.verbs.empty() || next_ == words_.size()) return {};
    const std::string first = words_[next_++];
    if (first == "help") return help_on(help);
    std::vector<std::string> firsts, seconds;
    for (const auto& verb : command_.verbs) {
      const auto parts = split(verb.path, ' ');
      if (std::ranges::find(firsts, parts[0]) == firsts.end()) firsts.push_back(parts[0]);
      if (parts[0] != first) continue;
      if (parts.size() == 1) {
        out_.what = &verb;
        return {};
      }
      seconds.push_back(parts[1]);
    }
    if (seconds.empty()) return unknown("verb", first, firsts);
    if (next_ == words_.size()) return refuse(first + ": say what: " + list(seconds));
    const std::string second = words_[next_++];
    if (second == "-h" || second == "--help" || second == "help") {
      help = help_group(command_, first);
      return {};
    }
    for (const auto& verb : command_.verbs)
      if (verb.path == first + " " + second ||
          (verb.alias == second && verb.path.starts_with(first + " ")))
        out_.what = &verb;
    return out_.what != nullptr ? result<void>{} : unknown(first + " verb", second, seconds);
  }

  result<void> help_on(std::optional<std::string>& help) {
    std::string path;
    for (; next_ < words_.size(); next_++) path += (path.empty() ? "" : " ") + words_[next_];
    if (path.empty()) {
      help = help_command(command_);
      return {};
    }
    for (const auto& [group, summary] : command_.groups)
      if (group == path) help = help_group(command_, group);
    for (const auto& verb : command_.verbs)
      if (verb.path == path) help = help_verb(command_, verb);
    std::vector<std::string> known;
    for (const auto& verb : command_.verbs) known.push_back(verb.path);
    return help ? result<void>{} : unknown("verb", path, known);
  }

  tl::unexpected<error> unknown(const std::string& what, const std::string& word,
                                const std::vector<std::string>& known) const {
    const std::string near = nearest(word, known);
    return refuse("unknown " + what + " '" + word + "'; " +
                  (near.empty() ? "known: " + list(known) : "did you mean '" + near + "'?"));
  }

  const parameter* find_option(std::string_view name, char letter) const {
    const auto search = [&](const std::vector<parameter>& options) -> const parameter* {
      for (const auto& p : options)
        if (letter != 0 ? p.letter == letter : p.name == name) return &p;
      return nullptr;
    };
    const parameter* found = out_.what != nullptr ? search(out_.what->options) : nullptr;
    return found != nullptr ? found : search(command_.options);
  }

  result<void> read_option(const std::string& word, std::optional<std::string>& help) {
    if (word == "--") {
      only_arguments_ = true;
      return {};
    }
    if (word == "-h" || word == "--help") {
      help = out_.what != nullptr ? help_verb(command_, *out_.what) : help_command(command_);
      return {};
    }
    const bool is_long = word[1] == '-';
    const std::size_t equals = is_long ? word.find('=') : std::string::npos;
    const std::string name = is_long
                                 ? word.substr(2, equals == std::string::npos ? equals : equals - 2)
                                 : word.substr(1, 1);
    const parameter* p = find_option(name, is_long ? 0 : name[0]);
    if (p == nullptr) return unknown_option(word.substr(0, equals), name);
    std::optional<std::string> value;
    if (equals != std::string::npos) value = word.substr(equals + 1);
    if (!is_long && word.size() > 2) value = word.substr(2);  // -s/run/x
    if (p->type == kind::flag) {
      if (value) return refuse(word + ": takes no value");
      value = "on";
    } else if (!value) {
      if (next_ + 1 == words_.size()) return refuse(word + ": its value is missing");
      value = words_[++next_];
    }
    return store(*p, "--" + p->name, *value);
  }

  tl::unexpected<error> unknown_option(const std::string& shown, const std::string& name) const {
    std::vector<std::string> known;
    if (out_.what != nullptr)
      for (const auto& p : out_.what->options) known.push_back(p.name);
    for (const auto& p : command_.options) known.push_back(p.name);
    const std::string near = nearest(name, known);
    return refuse("unknown option " + shown +
                  (near.empty() ? "" : "; did you mean --" + near + "?"));
  }

  result<void> read_argument(const std::string& word) {
    if (out_.what == nullptr || arguments_ == out_.what->arguments.size())
      return refuse("'" + word + "' is one argument too many");
    const parameter& p = out_.what->arguments[arguments_++];
    return store(p, p.name, word);
  }

  result<void> store(const parameter& p, const std::string& shown, const std::string& value) {
    if (const auto reason = check(p, value); !reason.empty()) return refuse(shown + ": " + reason);
    if (!out_.values.emplace(p.name, value).second) return refuse(shown + ": is given twice");
    return {};
  }

  result<invocation> finish() {
    if (out_.what != nullptr && arguments_ < out_.what->arguments.size() &&
        !out_.what->arguments[arguments_].optional)
      return refuse(out_.what->arguments[arguments_].name +
                    " is missing; usage: " + usage(command_, *out_.what));
    return std::move(out_);
  }

  const command& command_;
  const std::vector<std::string>& words_;
  std::size_t next_ = 0, arguments_ = 0;
  bool only_arguments_ = false;
  invocation out_;
};

}  // namespace

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

result<std::vector<std::pair<unsigned, unsigned>>> parse_vlans(const std::string& text) {
  std::vector<std::pair<unsigned, unsigned>> ranges;
  for (const auto& part : split(text, ',')) {
    const std::size_t dash = part.find('-');
    const std::string_view view = part;
    unsigned first = 0, last = 0;
    const bool good = parse_whole(view.substr(0, dash), first) &&
                      parse_whole(dash == std::string::npos ? view : view.substr(dash + 1), last);
    if (!good || first < 1 || last > 4094 || first > last)
      return fail(errc::invalid, text,
                  "'" + part + "' is neither a VLAN from 1 to 4094 nor a range such as 20-30");
    ranges.emplace_back(first, last);
  }
  return ranges;
}

std::string invocation::text(const std::string& name, std::string fallback) const {
  const auto found = values.find(name);
  return found == values.end() ? fallback : found->second;
}

std::uint64_t invocation::number(const std::string& name, std::uint64_t fallback) const {
  const auto found = values.find(name);
  return found == values.end() ? fallback : parse_size(found->second).value_or(fallback);
}

double invocation::real(const std::string& name, double fallback) const {
  double value = fallback;
  if (const auto found = values.find(name); found != values.end())
    parse_whole(std::string_view(found->second), value);
  return value;
}

bool invocation::on(const std::string& name) const {
  return is_word_of(text(name), {"on", "yes", "true"});
}

std::vector<std::string> invocation::words(const std::string& name) const {
  return has(name) ? split(text(name), ',') : std::vector<std::string>{};
}

result<invocation> parse(const command& command, const std::vector<std::string>& words,
                         std::optional<std::string>& help) {
  return reader(command, words).run(help);
}

}  // namespace coua::cli
