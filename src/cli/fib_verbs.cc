// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>

#include "base/clock.h"
#include "cli/fib_fit.h"
#include "cli/fib_source.h"
#include "cli/session.h"
#include "cli/waiting.h"
#include "net/mac.h"

namespace coua::cli {
namespace {

constexpr std::uint64_t mac_mask = (std::uint64_t{1} << 48) - 1;

std::string mac_of(const invocation& call, const char* name) {
  return net::format_mac(net::parse_mac(call.text(name)).value_or(0));
}

std::string entry_name(const invocation& call) {
  return "VLAN " + call.text("VLAN") + " " + mac_of(call, "MAC");
}

v1::FibFilter take_filter(const invocation& call) {
  v1::FibFilter filter;
  if (call.has("bridge")) filter.set_bridge(call.text("bridge"));
  if (call.has("vlan")) filter.set_vlan(static_cast<std::uint32_t>(call.number("vlan")));
  if (call.has("port")) filter.set_port(call.text("port"));
  if (call.has("mac")) filter.set_mac(mac_of(call, "mac"));
  if (call.has("static")) filter.set_kind(v1::FibFilter::KIND_STATIC);
  if (call.has("dynamic")) filter.set_kind(v1::FibFilter::KIND_DYNAMIC);
  return filter;
}

// Prints entries as they come: ten million of them must not pile up, nor cost an allocation each.
class entry_printer {
 public:
  explicit entry_printer(bool as_json) : as_json_(as_json) {
    buffer_ = as_json ? "{\n  \"entries\": [" : "VLAN  MAC                TYPE     AGE      PORT\n";
  }

  result<void> print(const v1::FibBatch& batch) {
    for (const auto& name : batch.port_names())
      names_.push_back(as_json_ ? json(name).dump() : name);
    const int n = batch.keys_size();
    if ((batch.ports_size() != n && batch.ports_size() != 1) || batch.ages_s_size() != n)
      return fail(errc::io, "couad", "sent a batch whose columns differ in length");
    for (int i = 0; i < n; i++) {
      const std::uint32_t port = batch.ports(batch.ports_size() == 1 ? 0 : i);
      if (port >= names_.size()) return fail(errc::io, "couad", "sent a port without a name");
      line(batch.keys(i), names_[port], batch.ages_s(i));
    }
    flush();
    return {};
  }

  /// After a failure, JSON stays JSON: the object has "error" as its last member.
  void finish(const error* e = nullptr) {
    if (as_json_) {
      buffer_ += (count_ > 0 ? "\n  " : "") + ("],\n  \"count\": " + std::to_string(count_));
      if (e != nullptr) buffer_ += ",\n  \"error\": " + error_json(*e).dump();
      buffer_ += "\n}\n";
    }
    flush();
  }

 private:
  void line(std::uint64_t key, const std::string& port, unsigned age_s) {
    const bool is_static = (key & fib_static_bit) != 0;
    const unsigned vlan = key >> 48 & 0xfff;
    char mac[18] = {}, text[128];
    net::write_mac(key & mac_mask, mac);
    if (as_json_)
      std::snprintf(text, sizeof text,
                    "%s\n    {\"vlan\": %u, \"mac\": \"%s\", \"port\": ", count_ > 0 ? "," : "",
                    vlan, mac);
    else
      std::snprintf(text, sizeof text, "%-4u  %s  %-7s  %-7s  ", vlan, mac,
                    is_static ? "static" : "learned",
                    is_static ? "-" : (std::to_string(age_s) + "s").c_str());
    (buffer_ += text) += port;
    if (as_json_) {
      std::snprintf(text, sizeof text, ", \"static\": %s, \"age_s\": %u}",
                    is_static ? "true" : "false", age_s);
      buffer_ += text;
    } else {
      buffer_ += '\n';
    }
    count_++;
  }

  void flush() {
    put(buffer_);
    buffer_.clear();
  }

  const bool as_json_;
  std::string buffer_;
  std::vector<std::string> names_;
  std::uint64_t count_ = 0;
};

// A line that is drawn over again, where someone looks.
class progress {
 public:
  void show(std::uint64_t done) {
    if (!terminal_ || now_ns() - last_ < 200'000'000) return;
    last_ = now_ns();
    std::fprintf(stderr, "\r%s entries", grouped(done).c_str());
    drawn_ = true;
  }
  ~progress() {
    if (drawn_) std::fputs("\r\033[K", stderr);
  }

 private:
  const bool terminal_ = isatty(STDERR_FILENO) == 1;
  bool drawn_ = false;
  std::uint64_t last_ = 0;
};

result<std::unique_ptr<fib_source>> open_source(const session& s) {
  const invocation& call = s.call;
  if (call.has("generate") == call.has("FILE"))
    return s.misuse("give either a file or --generate COUNT");
  for (const char* name : {"vlan", "base", "ports"})
    if (call.has("FILE") && call.has(name))
      return s.misuse(std::string("--") + name + " goes with --generate only");
  if (call.has("generate") && !call.has("ports"))
    return s.misuse("--generate needs --ports, such as --ports p0,p1");
  const auto ports =
      s.daemon.call(s.daemon.ports(), &v1::PortService::Stub::ListPorts, v1::ListPortsRequest());
  if (!ports) return tl::unexpected(ports.error());
  const port_vlans known(ports->ports());
  if (call.has("FILE")) return read_fib_file(call.text("FILE"), call.has("static"), known);
  fib_pattern pattern;
  pattern.count = call.number("generate");
  pattern.vlan = static_cast<unsigned>(call.number("vlan", 1));
  pattern.base = net::parse_mac(call.text("base", "02:00:00:00:00:00")).value_or(0);
  pattern.ports = call.words("ports");
  pattern.is_static = call.has("static");
  return make_fib_entries(pattern, known);
}

result<bool> any_matches(const session& s, v1::ShowFibRequest request) {
  request.set_limit(1);
  if (auto good = check_texts(request); !good) return tl::unexpected(good.error());
  call_context context(s.daemon);
  const auto stream = s.daemon.fib().ShowFib(&context, request);
  bool found = false;
  for (v1::FibBatch batch; stream->Read(&batch);) found = found || batch.keys_size() > 0;
  const grpc::Status status = stream->Finish();
  if (!status.ok()) return tl::unexpected(client::to_error(status, context));
  return found;
}

}  // namespace

result<void> run_fib_show(const session& s) {
  if (s.call.has("static") && s.call.has("dynamic"))
    return s.misuse("--static and --dynamic exclude each other");
  v1::ShowFibRequest request;
  *request.mutable_filter() = take_filter(s.call);
  request.set_limit(s.call.number("limit"));
  if (s.call.has("wait")) {
    const auto any = [&] { return any_matches(s, request); };
    if (auto looked = look_until(s, "no entry matches", any); !looked) return looked;
  }
  if (auto good = check_texts(request); !good) return tl::unexpected(good.error());
  call_context context(s.daemon);
  const auto stream = s.daemon.fib().ShowFib(&context, request);
  v1::FibBatch batch;
  std::optional<entry_printer> printer;  // a refused call prints nothing
  while (stream->Read(&batch)) {
    if (!printer) printer.emplace(s.as_json);
    if (auto printed = printer->print(batch); !printed) {
      context.TryCancel();
      printer->finish(&printed.error());
      s.answered = true;
      return printed;
    }
  }
  const grpc::Status status = stream->Finish();
  if (!status.ok()) {
    const error e = client::to_error(status, context);
    if (printer) printer->finish(&e);
    s.answered = printer.has_value();
    return tl::unexpected(e);
  }
  if (!printer) printer.emplace(s.as_json);
  printer->finish();
  return {};
}

result<void> run_fib_add(const session& s) {
  v1::AddFibEntryRequest request;
  request.set_vlan(static_cast<std::uint32_t>(s.call.number("VLAN")));
  request.set_mac(mac_of(s.call, "MAC"));
  request.set_port(s.call.text("PORT"));
  const auto got = s.daemon.call(s.daemon.fib(), &v1::FibService::Stub::AddFibEntry, request);
  if (!got) return tl::unexpected(got.error());
  s.answer_change(json::object(), got->changed(), entry_name(s.call), "added");
  return {};
}

result<void> run_fib_del(const session& s) {
  v1::DeleteFibEntryRequest request;
  request.set_vlan(static_cast<std::uint32_t>(s.call.number("VLAN")));
  request.set_mac(mac_of(s.call, "MAC"));
  request.set_bridge(s.call.text("bridge"));
  const auto got = s.daemon.call(s.daemon.fib(), &v1::FibService::Stub::DeleteFibEntry, request);
  if (!got) return tl::unexpected(got.error());
  s.answer_change(json::object(), got->changed(), entry_name(s.call), "removed");
  return {};
}

result<void> run_fib_flush(const session& s) {
  v1::FlushFibRequest request;
  *request.mutable_filter() = take_filter(s.call);
  const auto got = s.daemon.call(s.daemon.fib(), &v1::FibService::Stub::FlushFib, request);
  if (!got) return tl::unexpected(got.error());
  s.answer({{"removed", got->removed()}},
           counted(got->removed(), "entry", "entries") + " removed\n");
  return {};
}

result<void> run_fib_load(const session& s) {
  const auto source = open_source(s);
  if (!source) return tl::unexpected(source.error());
  if (auto fits = check_fit(s.daemon, **source); !fits) return fits;
  call_context context(s.daemon);
  v1::LoadFibResponse response;
  const std::uint64_t start = now_ns();
  const auto stream = s.daemon.fib().LoadFib(&context, &response);
  v1::FibBatch batch;
  {
    progress line;
    std::uint64_t sent = 0;
    while ((*source)->next(batch) && stream->Write(batch))
      line.show(sent += static_cast<std::uint64_t>(batch.keys_size()));
  }
  stream->WritesDone();
  const grpc::Status status = stream->Finish();
  if (!status.ok()) return tl::unexpected(client::to_error(status, context));
  const double seconds = static_cast<double>(now_ns() - start) * 1e-9;
  const auto per_second =
      static_cast<std::uint64_t>(static_cast<double>(response.stored()) / seconds);
  char text[96];
  std::snprintf(text, sizeof text, " stored in %.2f s, ", seconds);
  s.answer(
      {{"stored", response.stored()}, {"seconds", seconds}, {"entries_per_second", per_second}},
      counted(response.stored(), "entry", "entries") + text + grouped(per_second) +
          " per second\n");
  return {};
}

result<void> run_fib_stats(const session& s) {
  const auto got =
      s.daemon.call(s.daemon.fib(), &v1::FibService::Stub::GetFibStats, v1::GetFibStatsRequest());
  if (!got) return tl::unexpected(got.error());
  const double load = got->slots() == 0
                          ? 0
                          : static_cast<double>(got->entries()) / static_cast<double>(got->slots());
  json paths = json::array();
  for (std::uint64_t n : got->path_length()) paths.push_back(n);
  const json out = {{"entries", got->entries()},
                    {"slots", got->slots()},
                    {"load", load},
                    {"buckets", got->buckets()},
                    {"buckets_asked", got->buckets_asked()},
                    {"statics", got->statics()},
                    {"in_secondary", got->in_secondary()},
                    {"bytes", got->bytes()},
                    {"layout", got->layout()},
                    {"memory", got->memory()},
                    {"simd", got->simd()},
                    {"ageing_s", got->ageing_s()},
                    {"value_bits", got->value_bits()},
                    {"added", got->added()},
                    {"updated", got->updated()},
                    {"erased", got->erased()},
                    {"aged_out", got->aged_out()},
                    {"refused", got->refused()},
                    {"moves", got->moves()},
                    {"retries", got->retries()},
                    {"path_length", paths},
                    {"reports", got->reports()},
                    {"reports_dropped", got->reports_dropped()},
                    {"reports_stale", got->reports_stale()},
                    {"moved", got->moved()},
                    {"flapping", got->flapping()},
                    {"limited", got->limited()}};
  std::string text;
  for (const auto& [name, value] : out.items()) {
    std::string shown = value.is_string()            ? value.get<std::string>()
                        : value.is_number_unsigned() ? grouped(value.get<std::uint64_t>())
                                                     : value.dump();
    if (name == "load") {
      char percent[32];
      std::snprintf(percent, sizeof percent, "%.4f", load);
      shown = percent;
    }
    std::string left = name;
    left.resize(20, ' ');
    text += left + shown + "\n";
  }
  s.answer(out, text);
  return {};
}

result<void> run_fib_ageing(const session& s) {
  if (!s.call.has("SECONDS")) {
    const auto got =
        s.daemon.call(s.daemon.fib(), &v1::FibService::Stub::GetFibStats, v1::GetFibStatsRequest());
    if (!got) return tl::unexpected(got.error());
    s.answer({{"ageing_s", got->ageing_s()}, {"changed", false}},
             got->ageing_s() == 0
                 ? "learned entries never age\n"
                 : "learned entries age after " + std::to_string(got->ageing_s()) + " s\n");
    return {};
  }
  v1::SetAgeingRequest request;
  request.set_seconds(static_cast<std::uint32_t>(s.call.number("SECONDS")));
  const auto got = s.daemon.call(s.daemon.fib(), &v1::FibService::Stub::SetAgeing, request);
  if (!got) return tl::unexpected(got.error());
  s.answer_change(
      {{"ageing_s", request.seconds()}}, got->changed(), "ageing",
      std::to_string(request.seconds()) + " s, was " + std::to_string(got->before_s()) + " s");
  return {};
}

}  // namespace coua::cli
