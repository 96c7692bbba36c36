// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "base/error_place.h"
#include "cli/session.h"

namespace coua::cli {
namespace {

using request = v1::ApplyFlowsRequest;

constexpr std::size_t piece_bytes = std::size_t{1} << 20;

/// The whole file; "-" is the standard input.
result<std::string> read_file(const std::string& path) {
  const bool standard = path == "-";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      standard ? stdin : std::fopen(path.c_str(), "r"),
      standard ? [](std::FILE*) { return 0; } : &std::fclose);
  if (!file) return fail(errc::not_found, path, std::strerror(errno));
  std::string text;
  char piece[65536];
  errno = 0;
  while (const std::size_t n = std::fread(piece, 1, sizeof piece, file.get()))
    text.append(piece, n);
  // Of a read that failed before, nothing tells the reason any more.
  if (std::ferror(file.get()) != 0)
    return fail(errc::io, path, errno != 0 ? std::strerror(errno) : "cannot be read");
  return text;
}

bool is_blank(const std::string& text) {
  return text.find_first_not_of(" \t\r\n") == std::string::npos;
}

/// What is asked: the argument, or the lines of a file. `all` is the word for neither.
result<std::string> take_text(const session& s, const char* argument, const char* all) {
  if (s.call.has(argument) && s.call.has("file"))
    return s.misuse(std::string("give either ") + argument + " or --file");
  if (s.call.has("file")) return read_file(s.call.text("file"));
  if (!s.call.has(argument)) {
    if (all != nullptr) return all;
    return s.misuse(std::string("give ") + argument + ", or --file FILE with one in each line");
  }
  if (is_blank(s.call.text(argument))) return s.misuse(std::string(argument) + " is empty");
  return s.call.text(argument);
}

/// "2 changes, 1 renewed: counters or time-outs begin anew"
std::string changes_of(const v1::ApplyFlowsResponse& got) {
  if (got.renewed() == 0) return counted(got.changes(), "change");
  return (got.changes() == 0 ? "" : counted(got.changes(), "change") + ", ") +
         grouped(got.renewed()) + " renewed: counters or time-outs begin anew";
}

/// "line 3: tcp" in a file with that text.
error in_file(const std::string& name, const std::string& text, error wrong) {
  constexpr std::string_view line = "line ";
  if (!wrong.where.starts_with(line)) {
    // What is not the text's fault is not the file's either.
    if (wrong.code != errc::invalid) return wrong;
    const bool is_one = text.find('\n') >= text.size() - 1;  // the daemon does not number it
    return at_place(is_one ? name + ":1" : name, std::move(wrong));
  }
  wrong.where = name + ":" + wrong.where.substr(line.size());
  return wrong;
}

/// `is_bare`: the text says no kind and no command, one that the verb does not name least of all.
result<void> apply(const session& s, const std::string& text, bool is_bare, request::Kind kind,
                   request::Command command) {
  call_context context(s.daemon);
  v1::ApplyFlowsResponse got;
  const auto stream = s.daemon.flows().ApplyFlows(&context, &got);
  request piece;
  piece.set_kind(kind);
  piece.set_command(command);
  piece.set_bare(is_bare);
  piece.set_bridge(s.call.text("bridge"));
  if (auto good = check_texts(piece); !good) return good;
  for (std::size_t at = 0; at == 0 || at < text.size(); at += piece_bytes) {
    piece.set_text(text.substr(at, piece_bytes));
    piece.set_last(at + piece_bytes >= text.size());
    if (!stream->Write(piece)) break;
    piece.Clear();
  }
  stream->WritesDone();
  const grpc::Status status = stream->Finish();
  if (!status.ok()) return tl::unexpected(client::to_error(status, context));
  s.answer_change(
      {{"operations", got.operations()}, {"changes", got.changes()}, {"renewed", got.renewed()}},
      got.changed(), counted(got.operations(), "operation"), changes_of(got));
  return {};
}

double seconds(std::uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

json traffic_json(const v1::Traffic& counted) {
  return {{"packets", counted.packets()}, {"bytes", counted.bytes()}};
}
template <typename List>
json traffic_list(const List& all) {
  json out = json::array();
  for (const v1::Traffic& one : all) out.push_back(traffic_json(one));
  return out;
}

json to_json(const v1::Flow& one) {
  return {{"table", one.table()},
          {"priority", one.priority()},
          {"cookie", one.cookie()},
          {"packets", one.packets()},
          {"bytes", one.bytes()},
          {"duration_s", seconds(one.duration_ns())},
          {"idle_s", seconds(one.idle_ns())},
          {"text", one.text()}};
}
json to_json(const v1::Group& one) {
  return {{"group_id", one.group_id()},
          {"type", one.type()},
          {"packets", one.total().packets()},
          {"bytes", one.total().bytes()},
          {"buckets", traffic_list(one.buckets())},
          {"references", one.references()},
          {"duration_s", seconds(one.duration_ns())},
          {"text", one.text()}};
}
json to_json(const v1::Meter& one) {
  return {{"meter_id", one.meter_id()},
          {"packets", one.total().packets()},
          {"bytes", one.total().bytes()},
          {"bands", traffic_list(one.bands())},
          {"flows", one.flows()},
          {"duration_s", seconds(one.duration_ns())},
          {"text", one.text()}};
}

std::string line_of(const v1::Flow& one, bool) { return one.text(); }
template <typename One>
std::string line_of(const One& one, bool stats) {
  return stats ? one.stats_text() : one.text();
}

const auto& list_of(const v1::FlowBatch& batch) { return batch.flows(); }
const auto& list_of(const v1::GroupBatch& batch) { return batch.groups(); }
const auto& list_of(const v1::MeterBatch& batch) { return batch.meters(); }

/// Prints what comes, as it comes. After a failure, JSON stays JSON.
template <typename Batch, typename Stream>
result<void> print_dump(const session& s, const char* name, const call_context& context,
                        Stream& stream) {
  const bool stats = s.call.has("stats");
  const std::string head = std::string("{\n  \"") + name + "\": [";
  std::uint64_t count = 0;
  Batch batch;
  while (stream.Read(&batch)) {
    std::string out;
    for (const auto& one : list_of(batch)) {
      if (s.as_json) {
        out += (count == 0 ? head : std::string(",")) + "\n    " +
               to_json(one).dump(-1, ' ', false, json::error_handler_t::replace);
      } else {
        out += " " + line_of(one, stats) + "\n";
      }
      ++count;
    }
    put(out);
  }
  const grpc::Status status = stream.Finish();
  std::optional<error> failure;
  if (!status.ok()) failure = client::to_error(status, context);
  if (failure && count == 0) return tl::unexpected(*failure);
  if (s.as_json) {
    std::string tail =
        (count == 0 ? head : std::string("\n  ")) + "],\n  \"count\": " + std::to_string(count);
    if (failure) tail += ",\n  \"error\": " + error_json(*failure).dump();
    put(tail + "\n}\n");
  }
  s.answered = true;
  if (failure) return tl::unexpected(*failure);
  return {};
}

std::uint32_t id_of(const invocation& call, const char* name) {
  return static_cast<std::uint32_t>(call.number(name));
}

request::Command modify_command(const session& s) {
  return s.call.has("strict") ? request::COMMAND_MODIFY_STRICT : request::COMMAND_MODIFY;
}
request::Command delete_command(const session& s) {
  return s.call.has("strict") ? request::COMMAND_DELETE_STRICT : request::COMMAND_DELETE;
}

result<void> run_apply(const session& s, const char* argument, const char* all, request::Kind kind,
                       request::Command command) {
  const auto text = take_text(s, argument, all);
  if (!text) return tl::unexpected(text.error());
  const result<void> done = apply(s, *text, s.call.has(argument), kind, command);
  const std::string file = s.call.text("file");
  if (done || file.empty() || file == "-") return done;
  return tl::unexpected(in_file(file, *text, done.error()));
}

}  // namespace

result<void> run_flow_add(const session& s) {
  return run_apply(s, "FLOW", nullptr, request::KIND_FLOW, request::COMMAND_ADD);
}
result<void> run_flow_mod(const session& s) {
  return run_apply(s, "FLOW", nullptr, request::KIND_FLOW, modify_command(s));
}
result<void> run_flow_del(const session& s) {
  return run_apply(s, "FLOW", s.call.has("strict") ? nullptr : "delete", request::KIND_FLOW,
                   delete_command(s));
}

result<void> run_flow_dump(const session& s) {
  v1::DumpFlowsRequest asked;
  asked.set_filter(s.call.text("FILTER"));
  asked.set_bridge(s.call.text("bridge"));
  asked.set_limit(s.call.number("limit"));
  if (auto good = check_texts(asked); !good) return tl::unexpected(good.error());
  call_context context(s.daemon);
  const auto stream = s.daemon.flows().DumpFlows(&context, asked);
  return print_dump<v1::FlowBatch>(s, "flows", context, *stream);
}

result<void> run_flow_stats(const session& s) {
  v1::GetFlowStatsRequest asked;
  asked.set_bridge(s.call.text("bridge"));
  const auto got = s.daemon.call(s.daemon.flows(), &v1::FlowService::Stub::GetFlowStats, asked);
  if (!got) return tl::unexpected(got.error());
  json list = json::array();
  table rows({"TABLE", "FLOWS", "LOOKUPS", "MATCHES"});
  for (const auto& one : got->tables()) {
    list.push_back({{"table", one.table()},
                    {"flows", one.flows()},
                    {"lookups", one.lookups()},
                    {"matches", one.matches()}});
    rows.add({std::to_string(one.table()), grouped(one.flows()), grouped(one.lookups()),
              grouped(one.matches())});
  }
  std::string drops = counters_text(got->drops());
  if (!drops.empty()) drops = "dropped\n" + drops;
  s.answer({{"flows", got->flows()},
            {"groups", got->groups()},
            {"meters", got->meters()},
            {"version", got->version()},
            {"tables", list},
            {"drops", counters_json(got->drops())}},
           counted(got->flows(), "flow") + ", " + counted(got->groups(), "group") + ", " +
               counted(got->meters(), "meter") + "\n" + (list.empty() ? "" : rows.text()) + drops);
  return {};
}

result<void> run_group_add(const session& s) {
  return run_apply(s, "GROUP", nullptr, request::KIND_GROUP, request::COMMAND_ADD);
}
result<void> run_group_mod(const session& s) {
  return run_apply(s, "GROUP", nullptr, request::KIND_GROUP, request::COMMAND_MODIFY);
}
result<void> run_group_del(const session& s) {
  return run_apply(s, "GROUP", "delete", request::KIND_GROUP, request::COMMAND_DELETE);
}

result<void> run_group_dump(const session& s) {
  if (s.call.has("ID") && s.call.has("from")) return s.misuse("give either ID or --from");
  v1::DumpGroupsRequest asked;
  if (s.call.has("ID")) asked.set_group_id(id_of(s.call, "ID"));
  asked.set_first(id_of(s.call, "from"));
  asked.set_limit(s.call.number("limit"));
  asked.set_type(s.call.text("type"));
  asked.set_unused(s.call.has("unused"));
  asked.set_bridge(s.call.text("bridge"));
  if (auto good = check_texts(asked); !good) return tl::unexpected(good.error());
  call_context context(s.daemon);
  const auto stream = s.daemon.flows().DumpGroups(&context, asked);
  return print_dump<v1::GroupBatch>(s, "groups", context, *stream);
}

result<void> run_meter_add(const session& s) {
  return run_apply(s, "METER", nullptr, request::KIND_METER, request::COMMAND_ADD);
}
result<void> run_meter_mod(const session& s) {
  return run_apply(s, "METER", nullptr, request::KIND_METER, request::COMMAND_MODIFY);
}
result<void> run_meter_del(const session& s) {
  return run_apply(s, "METER", "delete", request::KIND_METER, request::COMMAND_DELETE);
}

result<void> run_meter_dump(const session& s) {
  if (s.call.has("ID") && s.call.has("from")) return s.misuse("give either ID or --from");
  v1::DumpMetersRequest asked;
  if (s.call.has("ID")) asked.set_meter_id(id_of(s.call, "ID"));
  asked.set_first(id_of(s.call, "from"));
  asked.set_limit(s.call.number("limit"));
  asked.set_unused(s.call.has("unused"));
  asked.set_bridge(s.call.text("bridge"));
  if (auto good = check_texts(asked); !good) return tl::unexpected(good.error());
  call_context context(s.daemon);
  const auto stream = s.daemon.flows().DumpMeters(&context, asked);
  return print_dump<v1::MeterBatch>(s, "meters", context, *stream);
}

}  // namespace coua::cli
