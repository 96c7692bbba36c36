// SPDX-License-Identifier: Apache-2.0
#include "bench/forward/testpmd.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/cpu.h"
#include "bench/forward/preload.h"
#include "bench/forward/preload/frames_line.h"
#include "bench/forward/worker_cores.h"
#include "bench/harness/cpu_time.h"
#include "bench/harness/crew.h"
#include "bench/harness/leftovers.h"
#include "bench/harness/scratch_folder.h"

namespace coua::bench {
namespace {

constexpr const char* program = "dpdk-testpmd";
constexpr const char* prompt = "testpmd> ";
constexpr double ready_seconds = 120;   // reading a large packet file takes its time
constexpr double answer_seconds = 60;   // on a busy machine; else it takes milliseconds
constexpr double first_seconds = 0.05;  // of a first window that nobody sees
constexpr const char* worker_prefix = "rte-worker";
constexpr unsigned headroom_bytes = 128;

word_list command_line(const port_plan& ports, unsigned workers, unsigned burst, bool huge_pages) {
  std::string cores = std::to_string(writer_cpu());
  for (const unsigned core : worker_cores(workers)) {
    if (core != writer_cpu()) cores += "," + std::to_string(core);
  }
  const std::string queues = std::to_string(workers);
  return {program,
          "-l" + cores,
          huge_pages ? "--in-memory" : "--no-huge",
          "--no-pci",
          "--no-telemetry",
          "--iova-mode=va",
          "--no-shconf",  // no files: several run at a time, and all are killed
          "-m" + std::to_string(testpmd::memory_mib(ports)),
          "--vdev=" + ports.in,
          "--vdev=" + ports.out,
          "--",
          "-i",
          "--forward-mode=mac",
          "--nb-cores=" + queues,
          "--rxq=" + queues,
          "--txq=" + queues,
          "--burst=" + std::to_string(burst),
          "--rxd=1024",
          "--txd=1024",
          "--mbcache=256",
          "--total-num-mbufs=" + std::to_string(ports.buffers),
          "--mbuf-size=" + std::to_string(ports.buffer_bytes + headroom_bytes),
          "--no-flush-rx",
          "--disable-link-check",
          "--no-lsc-interrupt"};
}

std::string end_of(const std::string& text) {
  constexpr std::size_t shown = 300;
  return text.substr(text.size() - std::min(text.size(), shown));
}

[[noreturn]] void become(const word_list& words, word_list& environment) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  for (std::string& setting : environment) putenv(setting.data());
  allow_signals();
  execvp(program, arguments.data());
  _exit(127);
}

}  // namespace

result<std::unique_ptr<testpmd>> testpmd::start(const port_plan& ports, unsigned workers,
                                                unsigned burst, bool huge_pages) {
  if (find_program(program).empty()) {
    return fail(errc::not_found, program, "is not in PATH: install Debian's package dpdk-dev");
  }
  if (!leave_a_cpu(workers)) {
    return fail(errc::unsupported, program, "needs a CPU beside those of the workers");
  }
  const word_list words = command_line(ports, workers, burst, huge_pages);
  auto environment = preload_settings(ports);
  if (!environment) return tl::unexpected(environment.error());
  auto folder = eal_folder::create();  // until it has started, or is gone
  if (!folder) return tl::unexpected(folder.error());
  std::unique_ptr<testpmd> made(new testpmd);
  // Without a terminal it would keep its answers in a buffer.
  termios mode{};
  cfmakeraw(&mode);
  {
    const leftovers::locked now;
    const pid_t process = forkpty(&made->terminal_, nullptr, &mode, nullptr);
    if (process == 0) become(words, *environment);
    if (process < 0) return fail(errc::io, program, std::strerror(errno));
    now->programs.insert(process);
    made->process_.emplace(process);
  }
  fcntl(made->terminal_, F_SETFD, FD_CLOEXEC);
  const auto ready = made->read_until_prompt(ready_seconds);
  if (!ready) return tl::unexpected(ready.error());
  // It would go on without, and forward empty packets.
  if (!ports.frames.empty() && ready->find(frames_line) == std::string::npos)
    return fail(errc::io, program, "did not get its frames; it said: " + end_of(*ready));
  if (auto started = made->ask("start", answer_seconds); !started) {
    return tl::unexpected(started.error());
  }
  made->threads_ = threads_named(made->process_->process(), worker_prefix);
  if (made->threads_.size() != workers) return fail(errc::io, program, "its workers are not found");
  if (result<double> warm = made->run(first_seconds); !warm) return tl::unexpected(warm.error());
  return made;
}

std::uint64_t testpmd::memory_mib(const port_plan& ports) { return ports.memory_mib + 128; }

testpmd::~testpmd() {
  if (terminal_ >= 0) close(terminal_);
}

result<std::string> testpmd::read_until_prompt(double seconds) {
  std::string text;
  const std::uint64_t deadline = now_ns() + static_cast<std::uint64_t>(seconds * 1e9);
  const auto trouble = [&text](const char* what) {
    return fail(errc::io, program, std::string(what) + "; it said: " + end_of(text));
  };
  while (now_ns() < deadline) {
    pollfd waiting = {terminal_, POLLIN, 0};
    if (poll(&waiting, 1, 100) <= 0) continue;
    char buffer[4096];
    const ssize_t count = read(terminal_, buffer, sizeof buffer);
    if (count <= 0) return trouble("it ended");
    text.append(buffer, static_cast<std::size_t>(count));
    if (text.ends_with(prompt)) return text;
  }
  return trouble("no answer");
}

result<std::string> testpmd::ask(const std::string& command, double seconds) {
  const std::string line = command + "\n";
  if (write(terminal_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    return fail(errc::io, program, std::strerror(errno));
  }
  return read_until_prompt(seconds);
}

result<std::uint64_t> testpmd::sent() {
  result<std::string> answer = ask("show port stats 1", answer_seconds);
  if (!answer) return tl::unexpected(answer.error());
  const std::string field = "TX-packets:";
  const std::size_t at = answer->find(field);
  if (at == std::string::npos) return fail(errc::io, program, "no TX-packets in: " + *answer);
  return std::strtoull(answer->c_str() + at + field.size(), nullptr, 10);
}

/// From stop to stop. The packets between the question and the stop belong to the next window, of
/// this one as of the last one: so they cancel.
result<double> testpmd::run(double seconds) {
  process_->go_on();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  const result<std::uint64_t> packets = sent();
  process_->pause();
  if (!packets) return tl::unexpected(packets.error());
  if (process_->has_ended()) return fail(errc::io, program, "it ended");
  const std::uint64_t cpu_ns = foreign_cpu_ns(process_->process(), threads_);
  const double workers = static_cast<double>(threads_.size());
  const double rate = 1e3 * workers * static_cast<double>(*packets - packets_) /
                      static_cast<double>(std::max<std::uint64_t>(1, cpu_ns - cpu_ns_));
  packets_ = *packets;
  cpu_ns_ = cpu_ns;
  return rate;
}

}  // namespace coua::bench
