// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/replace_file.h"
#include "cli/port_waiting.h"
#include "cli/session.h"
#include "cli/verbs.h"

namespace coua::cli {
namespace {

using config_request = v1::ApplyConfigRequest;
using change = v1::ConfigChange;

constexpr std::size_t file_bytes_max = std::size_t{64} << 20;
constexpr std::size_t file_piece_bytes = std::size_t{1} << 20;

struct text_file {
  std::string name, text;
};

result<text_file> read_text(const std::string& path) {
  const bool is_input = path == "-";
  text_file out{is_input ? "standard input" : path, {}};
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> opened(
      is_input ? nullptr : std::fopen(path.c_str(), "re"),
      [](std::FILE* f) { return f != nullptr ? std::fclose(f) : 0; });
  std::FILE* from = is_input ? stdin : opened.get();
  const auto failed = [&](const char* what) {
    // Of a read that failed before, nothing tells the reason any more.
    return fail(errno == ENOENT ? errc::not_found : errc::io, out.name,
                errno != 0 ? std::string(what) + ": " + std::strerror(errno) : what);
  };
  if (from == nullptr) return failed("cannot be opened");
  std::string block(1 << 16, '\0');
  errno = 0;
  while (out.text.size() <= file_bytes_max) {
    const std::size_t n = std::fread(block.data(), 1, block.size(), from);
    out.text.append(block, 0, n);
    if (n < block.size()) break;
  }
  if (std::ferror(from) != 0) return failed("cannot be read");
  if (out.text.size() > file_bytes_max)
    return fail(errc::invalid, out.name, "has more than 64 MiB");
  return out;
}

std::string to_text(const file_problem& problem, const std::string& file) {
  return file + (problem.line > 0 ? ":" + std::to_string(problem.line) : "") + ": " +
         (problem.field.empty() ? "" : problem.field + ": ") + problem.reason;
}

json problems_json(const file_report& report) {
  json out = json::array();
  for (const file_problem& each : report.problems)
    out.push_back({{"line", each.line}, {"field", each.field}, {"reason", each.reason}});
  return out;
}

/// All that is wrong with it, as the daemon will see it.
result<void> must_be_good(const session& s, const text_file& file) {
  const file_report report = s.check(file.text, file.name);
  if (report.problems.empty()) return {};
  for (std::size_t i = 0; i + 1 < report.problems.size(); i++)
    std::fprintf(stderr, "%s\n", to_text(report.problems[i], file.name).c_str());
  const file_problem& last = report.problems.back();
  auto failed = fail(errc::invalid,
                     file.name + (last.line > 0 ? ":" + std::to_string(last.line) : "") +
                         (last.field.empty() ? "" : ": " + last.field),
                     last.reason);
  if (s.as_json) {
    s.answer({{"error", error_json(failed.value())}, {"errors", problems_json(report)}}, "");
    s.answered = true;
  }
  return failed;
}

result<text_file> read_good(const session& s) {
  auto file = read_text(s.call.text("FILE"));
  if (!file) return file;
  if (const auto good = must_be_good(s, *file); !good) return tl::unexpected(good.error());
  return file;
}

result<v1::ApplyConfigResponse> send(const session& s, const text_file& file,
                                     config_request::Mode mode) {
  call_context context(s.daemon);
  v1::ApplyConfigResponse response;
  const auto out = s.daemon.config().ApplyConfig(&context, &response);
  for (std::size_t at = 0;; at += file_piece_bytes) {
    config_request next;
    next.set_text(file.text.substr(at, file_piece_bytes));
    next.set_last(at + file_piece_bytes >= file.text.size());
    if (at == 0) {
      next.set_file(file.name);
      next.set_mode(mode);
      if (auto good = check_texts(next); !good) return tl::unexpected(good.error());
    }
    if (!out->Write(next) || next.last()) break;
  }
  out->WritesDone();
  const grpc::Status status = out->Finish();
  if (!status.ok()) return tl::unexpected(client::to_error(status, context));
  return response;
}

const char* word_of(change::Kind kind) {
  switch (kind) {
    case change::KIND_REMOVED: return "removed";
    case change::KIND_REPLACED: return "replaced";
    case change::KIND_CHANGED: return "changed";
    case change::KIND_ADDED: return "added";
    case change::KIND_RESTART: return "restart";
    default: return "unknown";
  }
}

json to_json(const v1::ApplyConfigResponse& from) {
  json changes = json::array();
  for (const change& each : from.changes()) {
    json fields = json::array();
    for (const auto& field : each.fields())
      fields.push_back(
          {{"name", field.name()}, {"before", field.before()}, {"after", field.after()}});
    changes.push_back({{"kind", word_of(each.kind())},
                       {"item", each.item()},
                       {"line", each.line()},
                       {"fields", fields}});
  }
  return changes;
}

/// "port p0: vlan: 10 -> 20, mtu: 1500 -> 9000"
std::string to_line(const change& of) {
  std::string fields;
  for (const auto& field : of.fields()) {
    if (!fields.empty()) fields += ", ";
    if (field.name() != of.item()) fields += field.name() + ": ";
    fields +=
        of.kind() == change::KIND_ADDED ? field.after() : field.before() + " -> " + field.after();
  }
  const std::string head = of.item() + ": ";
  switch (of.kind()) {
    case change::KIND_REMOVED: return head + "removed\n";
    case change::KIND_REPLACED: return head + "replaced: " + fields + "\n";
    case change::KIND_ADDED: return head + "added" + (fields.empty() ? "" : ": " + fields) + "\n";
    case change::KIND_RESTART: return head + fields + " (needs a restart)\n";
    default: return head + fields + "\n";
  }
}

std::string to_lines(const v1::ApplyConfigResponse& from) {
  std::string out;
  for (const change& each : from.changes()) out += to_line(each);
  return out;
}

result<v1::GetConfigResponse> get(const session& s, v1::GetConfigRequest::Format format,
                                  bool warnings = false) {
  v1::GetConfigRequest asked;
  asked.set_warnings(warnings);
  asked.set_format(format);
  asked.set_flows(s.call.has("flows"));
  return s.daemon.call(s.daemon.config(), &v1::ConfigService::Stub::GetConfig, asked);
}

/// What of it would be something else after a restart.
void warn(const v1::GetConfigResponse& of) {
  constexpr int most = 10;
  for (int i = 0; i < std::min(of.warnings_size(), most); ++i) {
    std::fprintf(
        stderr,
        "warning: %s; the file has the number, which may be another port's after a restart\n",
        of.warnings(i).c_str());
  }
  if (of.warnings_size() > most)
    std::fprintf(stderr, "warning: and %d more\n", of.warnings_size() - most);
}

/// Whether a file is there that says what runs. `text` is what would be written.
bool says_the_same(const session& s, const std::string& path, const std::string& text) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return false;
  const auto file = read_text(path);
  if (!file) return false;
  if (file->text == text) return true;
  // What the file leaves to others differs from one that says it.
  if (s.call.has("flows") || !s.check(file->text, path).problems.empty()) return false;
  const auto compared = send(s, *file, config_request::MODE_COMPARE);
  return compared && compared->changes_size() == 0;
}

}  // namespace

result<void> run_config_check(const session& s) {
  const auto file = read_text(s.call.text("FILE"));
  if (!file) return tl::unexpected(file.error());
  const file_report report = s.check(file->text, file->name);
  for (const file_problem& each : report.problems)
    std::fprintf(stderr, "%s\n", to_text(each, file->name).c_str());
  const bool good = report.problems.empty();
  const json object = {{"file", file->name},
                       {"good", good},
                       {"ports", report.n_ports},
                       {"errors", problems_json(report)}};
  const std::string text = file->name + ": good, " + counted(report.n_ports, "port") + "\n";
  if (good || s.as_json) s.answer(object, text);
  if (!good) s.status = exit_failed;
  return {};
}

result<void> run_config_show(const session& s) {
  const auto got =
      get(s, s.as_json ? v1::GetConfigRequest::FORMAT_JSON : v1::GetConfigRequest::FORMAT_YAML);
  if (!got) return tl::unexpected(got.error());
  s.answer(s.as_json ? json::parse(got->text(), nullptr, false) : json(), got->text());
  return {};
}

result<void> run_config_save(const session& s) {
  if (s.call.text("FILE", "") == "-")
    return s.misuse("a file is saved by its name; coua config show prints what runs");
  const auto got = get(s, v1::GetConfigRequest::FORMAT_YAML, true);
  if (!got) return tl::unexpected(got.error());
  const std::string file = s.call.text("FILE", got->file());
  if (file.empty()) return s.misuse("couad was started without a file, so FILE must be given");
  const std::string text = "# Written by coua config save.\n" + got->text();
  const bool same = says_the_same(s, file, text);
  if (!same) {
    // Else couad would not start with it the next time.
    if (auto good = must_be_good(s, {file + " (not saved)", text}); !good) return good;
    if (auto written = replace_file(file, text); !written) return written;
  }
  warn(*got);
  s.answer_change(
      {{"file", file},
       {"warnings", std::vector<std::string>(got->warnings().begin(), got->warnings().end())}},
      !same, file, "saved");
  return {};
}

result<void> run_config_diff(const session& s) {
  const auto file = read_good(s);
  if (!file) return tl::unexpected(file.error());
  const auto got = send(s, *file, config_request::MODE_COMPARE);
  if (!got) return tl::unexpected(got.error());
  const bool differs = got->changes_size() > 0;
  s.answer({{"differs", differs}, {"changes", to_json(*got)}}, to_lines(*got));
  if (differs) s.status = exit_differs;
  return {};
}

result<void> run_config_apply(const session& s) {
  const auto file = read_good(s);
  if (!file) return tl::unexpected(file.error());
  // Whoever sends nothing hardly means to remove all.
  const bool is_input = s.call.text("FILE") == "-";
  if (is_input && file->text.find_first_not_of(" \t\r\n") == std::string::npos)
    return fail(errc::invalid, file->name, "is empty; {} is a configuration without ports");
  const bool dry = s.call.has("dry-run");
  const auto got = send(s, *file, dry ? config_request::MODE_CHECK : config_request::MODE_APPLY);
  if (!got) return tl::unexpected(got.error());
  if (s.call.has("wait") && !dry)
    if (const auto waited = list_ports(s); !waited) return tl::unexpected(waited.error());
  const std::size_t n = static_cast<std::size_t>(got->changes_size());
  const std::string done = n == 0 ? "unchanged"
                                  : std::to_string(n) + (n == 1 ? " change" : " changes") +
                                        (dry ? ", not applied (--dry-run)" : " applied");
  s.answer({{"changed", got->changed()}, {"changes", to_json(*got)}},
           to_lines(*got) + file->name + ": " + done + "\n");
  return {};
}

}  // namespace coua::cli
