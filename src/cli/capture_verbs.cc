// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>

#include "cli/capture_format.h"
#include "cli/interruption.h"
#include "cli/session.h"

namespace coua::cli {
namespace {

constexpr std::uint32_t snap_max = 65'535;

v1::CaptureRequest to_request(const invocation& call) {
  v1::CaptureRequest request;
  for (const std::string& name : call.words("port")) request.add_ports(name);
  const std::string direction = call.text("direction", "both");
  if (direction == "in") request.set_direction(v1::CaptureRequest::DIRECTION_IN);
  if (direction == "out") request.set_direction(v1::CaptureRequest::DIRECTION_OUT);
  if (call.has("vlan")) {
    const auto vlans = parse_vlans(call.text("vlan"));
    for (const auto& [first, last] : vlans.value()) {
      v1::VlanRange* range = request.add_vlans();
      range->set_first(first);
      range->set_last(last);
    }
  }
  for (const std::string& name : call.words("drop")) request.add_drops(name);
  request.set_filter(call.text("filter"));
  request.set_snap(static_cast<std::uint32_t>(call.number("snap")));
  request.set_count(call.number("count"));
  request.set_seconds(call.real("seconds"));
  request.set_buffer_bytes(call.number("buffer"));
  return request;
}

/// Closed at the end, unless it is the standard output.
class capture_file {
 public:
  ~capture_file() {
    if (fd_ > STDERR_FILENO) close(fd_);
  }
  result<int> open(const std::string& path) {
    if (path.empty() || path == "-") return fd_ = STDOUT_FILENO;
    fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd_ < 0) return fail(errc::io, path, std::strerror(errno));
    return fd_;
  }
  result<void> finish(const std::string& path) {
    const int fd = std::exchange(fd_, -1);
    if (fd > STDERR_FILENO && close(fd) != 0) return fail(errc::io, path, std::strerror(errno));
    return {};
  }

 private:
  int fd_ = -1;
};

void print_end(const session& s, const capture_reader& from, const std::string& file) {
  const capture_total sum = from.sum();
  std::fprintf(stderr, "%s captured, %s matched but lost\n", grouped(sum.written).c_str(),
               grouped(sum.lost).c_str());
  if (!s.as_json || file.empty()) return;
  json ports = json::object();
  for (std::size_t i = 0; i < from.ports().size(); ++i) {
    const capture_total& of = from.totals()[i];
    ports[from.ports()[i]] = {{"seen", of.seen}, {"captured", of.written}, {"lost", of.lost}};
  }
  s.answer({{"file", file}, {"captured", sum.written}, {"lost", sum.lost}, {"ports", ports}}, "");
}

/// How a capture ends before its limits. At a signal the daemon is told: it sends what it has
/// captured up to then, and the stream ends as at a limit. Where nobody reads it any more, or
/// nothing comes, it is cut.
class capture_end {
 public:
  capture_end(client& daemon, call_context& stream) : daemon_(daemon), stream_(stream) {}

  /// The first batch has come. `id` 0: the daemon is too old to be told.
  void began(std::uint64_t id) { id_ = id; }
  bool read(grpc::ClientReader<v1::CaptureBatch>& stream, v1::CaptureBatch& batch) {
    set(state::reads);
    const bool good = stream.Read(&batch);
    set(good ? state::writes : state::has_ended);
    return good;
  }
  /// No more is read.
  void ended() { set(state::has_ended); }
  /// In the thread of an interruption, once.
  void run(int signal) {
    const std::uint64_t id = id_;
    if (signal == 0 || id == 0) return cut();
    call_context context(daemon_, patience);
    v1::EndCaptureRequest request;
    request.set_id(id);
    v1::EndCaptureResponse response;
    const grpc::Status told = daemon_.captures().EndCapture(&context, request, &response);
    if (!told.ok()) return give_up(client::to_error(told, context));
    if (!wait_for_end()) give_up({errc::unavailable, "couad", "gave no answer in time"});
  }
  void cut() {
    is_cut_ = true;
    stream_.TryCancel();
  }
  /// After the end of the stream. Interrupted: it had not begun.
  result<void> result_of(const grpc::Status& status, bool has_begun) {
    if (status.ok()) return {};
    const std::lock_guard lock(mutex_);
    if (failure_) return tl::unexpected(*failure_);
    if (!is_cut_) return tl::unexpected(client::to_error(status, stream_));
    if (!has_begun) return tl::unexpected(interrupted());
    return {};
  }

 private:
  // To be told is no work for the daemon, nor is the next batch: one that does not answer by then
  // hangs.
  static constexpr std::chrono::seconds patience{5};

  enum class state { writes, reads, has_ended };

  void set(state now) {
    const std::lock_guard lock(mutex_);
    state_ = now;
    ++n_changes_;
    changed_.notify_all();
  }
  /// False: it waits for a batch that does not come.
  bool wait_for_end() {
    std::unique_lock lock(mutex_);
    while (state_ != state::has_ended) {
      const std::uint64_t before = n_changes_;
      const bool changes = changed_.wait_for(lock, patience, [&] { return n_changes_ != before; });
      if (!changes && state_ == state::reads) return false;
    }
    return true;
  }
  void give_up(error why) {
    why.what += "; frames that it still held are missing";
    {
      const std::lock_guard lock(mutex_);
      failure_ = std::move(why);
    }
    cut();
  }

  client& daemon_;
  call_context& stream_;
  std::atomic<std::uint64_t> id_{0};
  std::atomic<bool> is_cut_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  state state_ = state::writes;
  std::uint64_t n_changes_ = 0;
  std::optional<error> failure_;
};

}  // namespace

result<void> run_capture(const session& s) {
  const std::string file = s.call.text("write");
  if (s.as_json && file == "-") return s.misuse("--json and a capture on the standard output");
  const bool as_text = file.empty() && (s.as_json || isatty(STDOUT_FILENO) == 1);
  const auto request = to_request(s.call);
  const auto format =
      !as_text    ? make_pcapng(request.snap() != 0 ? request.snap() : snap_max, request.filter())
      : s.as_json ? make_json()
                  : make_lines();
  capture_reader reader(*format);
  capture_file target;
  const std::string name = file.empty() || file == "-" ? "standard output" : file;

  if (auto good = check_texts(request); !good) return tl::unexpected(good.error());
  call_context context(s.daemon);
  capture_end end(s.daemon, context);
  interruption stop([&] { end.run(stop.signal()); });
  const auto stream = s.daemon.captures().Capture(&context, request);
  v1::CaptureBatch batch;
  std::string out;
  int fd = -1;
  result<bool> written = true;
  while (written && *written && end.read(*stream, batch)) {
    if (fd < 0) {
      // Now the daemon has accepted it: a file that is there is not cleared in vain.
      const auto opened = target.open(file);
      if (!opened) {
        written = tl::unexpected(opened.error());
        break;
      }
      fd = *opened;
      end.began(batch.id());
      stop.watch(fd);
      format->begin(out);
      std::fputs("capturing; Ctrl-C ends it\n", stderr);
    }
    if (auto good = reader.read(batch, out); !good) {
      written = tl::unexpected(good.error());
      break;
    }
    written = stop.write(fd, name.c_str(), out);
    out.clear();
  }
  end.ended();
  if (!written || !*written) end.cut();
  const grpc::Status status = stream->Finish();
  if (!written) return tl::unexpected(written.error());
  if (fd >= 0) {
    s.answered = s.as_json && file.empty();
    reader.end(out);
    // Not after a block that was written in part.
    if (*written) written = stop.write(fd, name.c_str(), out);
    if (!written) return tl::unexpected(written.error());
    if (auto closed = target.finish(name); !closed) return closed;
    print_end(s, reader, file);
  }
  return end.result_of(status, fd >= 0);
}

}  // namespace coua::cli
