// SPDX-License-Identifier: Apache-2.0
#include "cli/fib_source.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "base/utf8.h"
#include "net/mac.h"

namespace coua::cli {
namespace {

constexpr std::size_t batch_entries = 16384;  // about 160 KiB
constexpr std::size_t errors_shown = 10;
constexpr std::size_t ports_max = 65536;

// A file may hold anything, also what a terminal would obey.
std::string quoted(std::string_view word) {
  std::string text(word.substr(0, 40));
  for (char& c : text)
    if (c < ' ' || c > '~') c = '?';
  return "'" + text + "'";
}

class file_source final : public fib_source {
 public:
  explicit file_source(port_vlans known) : known_(std::move(known)) {}

  result<void> read(const std::string& path, bool all_static) {
    std::FILE* file = path == "-" ? stdin : std::fopen(path.c_str(), "re");
    if (file == nullptr) return fail(errc::io, path, std::strerror(errno));
    all_static_ = all_static;
    char* line = nullptr;
    std::size_t room = 0;
    std::uint64_t number = 0, wrong = 0;
    std::string reasons;
    errno = 0;
    for (ssize_t n; (n = getline(&line, &room, file)) >= 0;) {
      number++;
      std::string_view text(line, static_cast<std::size_t>(n));
      if (number == 1) text = without_byte_order_mark(text);
      const std::string reason = take(text);
      if (reason.empty() || ++wrong > errors_shown) continue;
      reasons +=
          (reasons.empty() ? "" : "\n") + path + ":" + std::to_string(number) + ": " + reason;
    }
    const int reason = errno;
    const bool failed = std::ferror(file) != 0;
    std::free(line);
    if (file != stdin) std::fclose(file);
    // Of a read that failed before, nothing tells the reason any more.
    if (failed) return fail(errc::io, path, reason != 0 ? std::strerror(reason) : "cannot be read");
    if (wrong > errors_shown)
      reasons += "\nand " + std::to_string(wrong - errors_shown) + " more wrong lines";
    if (wrong > 0) return fail(errc::invalid, "", reasons + "\nnothing was loaded");
    return {};
  }

  bool next(v1::FibBatch& batch) override {
    batch.Clear();
    if (at_ == keys_.size()) return false;
    if (at_ == 0)
      for (const auto& name : names_) batch.add_port_names(name);
    const std::size_t n = std::min(batch_entries, keys_.size() - at_);
    const auto start = static_cast<std::ptrdiff_t>(at_), end = static_cast<std::ptrdiff_t>(at_ + n);
    batch.mutable_keys()->Add(keys_.begin() + start, keys_.begin() + end);
    batch.mutable_ports()->Add(ports_.begin() + start, ports_.begin() + end);
    at_ += n;
    return true;
  }

  std::uint64_t size() const override { return keys_.size(); }
  std::uint64_t distinct() override {
    sorted_ = keys_;
    for (std::uint64_t& key : sorted_) key &= ~fib_static_bit;
    std::ranges::sort(sorted_);
    const auto repeats = std::ranges::unique(sorted_);
    sorted_.erase(repeats.begin(), repeats.end());
    return sorted_.size();
  }
  bool has(std::uint64_t key) const override { return std::ranges::binary_search(sorted_, key); }

 private:
  // Empty when the line is good, else the reason.
  std::string take(std::string_view line) {
    std::string_view words[5];
    std::size_t n = 0;
    line = line.substr(0, line.find('#'));
    while (true) {
      const std::size_t start = line.find_first_not_of(" \t\r\n");
      if (start == std::string_view::npos) break;
      const std::size_t end = std::min(line.find_first_of(" \t\r\n", start), line.size());
      if (n == 5) break;
      words[n++] = line.substr(start, end - start);
      line.remove_prefix(end);
    }
    if (n == 0) return {};
    if (n < 3 || n > 4) return "is not 'VLAN MAC PORT [static]'";
    unsigned vlan = 0;
    const auto [end, status] =
        std::from_chars(words[0].data(), words[0].data() + words[0].size(), vlan);
    if (status != std::errc{} || end != words[0].data() + words[0].size() || vlan < 1 ||
        vlan > 4094)
      return quoted(words[0]) + " is not a VLAN from 1 to 4094";
    const auto mac = net::parse_mac(words[1]);
    if (!mac) return quoted(words[1]) + " is not a MAC address";
    if (*mac == 0 || (*mac >> 40 & 1) != 0) return net::format_mac(*mac) + " is no unicast address";
    if (words[2].size() > 32) return "the name of the port has more than 32 bytes";
    if (n == 4 && words[3] != "static") return quoted(words[3]) + " is not 'static'";
    const bool is_static = n == 4 || all_static_;
    keys_.push_back(std::uint64_t{vlan} << 48 | *mac | (is_static ? fib_static_bit : 0));
    if (std::string reason = add_port(words[2]); !reason.empty()) return reason;
    if (port_of_name_[last_] == nullptr) return quoted(words[2]) + " is no port of the switch";
    return port_vlans::check(*port_of_name_[last_], vlan);
  }

  std::string add_port(std::string_view name) {
    if (names_.empty() || names_[last_] != name) {  // ports often come in runs
      auto found = index_.find(name);
      if (found == index_.end()) {
        if (names_.size() == ports_max) return "has one port more than there can be";
        found = index_.emplace(name, static_cast<std::uint16_t>(names_.size())).first;
        names_.emplace_back(name);
        port_of_name_.push_back(known_.find(name));
      }
      last_ = found->second;
    }
    ports_.push_back(last_);
    return {};
  }

  const port_vlans known_;
  bool all_static_ = false;
  std::vector<std::uint64_t> keys_, sorted_;
  std::vector<std::uint16_t> ports_;
  std::vector<std::string> names_;
  std::vector<const port_vlans::port*> port_of_name_;  // null: there is none
  std::map<std::string, std::uint16_t, std::less<>> index_;
  std::uint16_t last_ = 0;
  std::size_t at_ = 0;
};

class pattern_source final : public fib_source {
 public:
  explicit pattern_source(const fib_pattern& pattern) : pattern_(pattern) {}

  bool next(v1::FibBatch& batch) override {
    batch.Clear();
    if (at_ == pattern_.count) return false;
    if (at_ == 0)
      for (const auto& name : pattern_.ports) batch.add_port_names(name);
    const std::uint64_t n = std::min<std::uint64_t>(batch_entries, pattern_.count - at_);
    const std::uint64_t first = (std::uint64_t{pattern_.vlan} << 48 | pattern_.base) + at_;
    const std::uint64_t flags = pattern_.is_static ? fib_static_bit : 0;
    for (std::uint64_t i = 0; i < n; i++) {
      batch.add_keys((first + i) | flags);
      batch.add_ports(static_cast<std::uint32_t>((at_ + i) % pattern_.ports.size()));
    }
    at_ += n;
    return true;
  }

  std::uint64_t size() const override { return pattern_.count; }
  std::uint64_t distinct() override { return pattern_.count; }
  bool has(std::uint64_t key) const override {
    return key - (std::uint64_t{pattern_.vlan} << 48 | pattern_.base) < pattern_.count;
  }

 private:
  const fib_pattern pattern_;
  std::uint64_t at_ = 0;
};

}  // namespace

result<std::unique_ptr<fib_source>> read_fib_file(const std::string& path, bool all_static,
                                                  const port_vlans& ports) {
  auto source = std::make_unique<file_source>(ports);
  if (auto read = source->read(path, all_static); !read) return tl::unexpected(read.error());
  return source;
}

result<std::unique_ptr<fib_source>> make_fib_entries(const fib_pattern& pattern,
                                                     const port_vlans& ports) {
  if (pattern.ports.empty()) return fail(errc::invalid, "--ports", "names no port");
  for (const std::string& each : pattern.ports) {
    const port_vlans::port* const found = ports.find(each);
    if (found == nullptr) {
      const std::string near = ports.nearest(each);
      return fail(errc::not_found, "--ports",
                  "'" + each + "' is no port of the switch" +
                      (near.empty() ? "" : "; did you mean '" + near + "'?"));
    }
    if (const std::string reason = port_vlans::check(*found, pattern.vlan); !reason.empty())
      return fail(errc::invalid, "--vlan", reason);
  }
  if (pattern.base == 0 || (pattern.base >> 40 & 1) != 0)
    return fail(errc::invalid, "--base", net::format_mac(pattern.base) + " is no unicast address");
  const std::uint64_t last = pattern.base + pattern.count - 1;
  if (last >> 40 != pattern.base >> 40)
    return fail(errc::invalid, "--base",
                net::format_mac(pattern.base) + " leaves room for " +
                    std::to_string((pattern.base | 0xffffffffff) - pattern.base + 1) +
                    " addresses up to the end of its first byte");
  return std::make_unique<pattern_source>(pattern);
}

}  // namespace coua::cli
