// SPDX-License-Identifier: Apache-2.0
#include "base/cpu.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>

namespace coua {
namespace {

std::atomic<isa> cap{isa::avx512};

/// Of a file; empty where there is none.
std::string first_word(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

/// A CPU set that is large enough for any machine: cpu_set_t ends at 1,024 CPUs.
class cpu_mask {
 public:
  static constexpr unsigned n_cpus = 8192;  // CONFIG_NR_CPUS_RANGE_END of the x86-64 kernel
  cpu_mask() : set_(CPU_ALLOC(n_cpus)) {
    if (set_ == nullptr) std::abort();
    CPU_ZERO_S(bytes(), set_);
  }
  ~cpu_mask() { CPU_FREE(set_); }
  cpu_mask(const cpu_mask&) = delete;
  cpu_mask& operator=(const cpu_mask&) = delete;

  static std::size_t bytes() { return CPU_ALLOC_SIZE(n_cpus); }
  cpu_set_t* get() { return set_; }
  void add(unsigned cpu) { CPU_SET_S(cpu, bytes(), set_); }
  bool has(unsigned cpu) const { return CPU_ISSET_S(cpu, bytes(), set_) != 0; }

 private:
  cpu_set_t* set_;
};

struct environment_choice {
  std::string complaint;
  const isa chosen = choose_isa(best_isa(), std::getenv("COUA_SIMD"), complaint);
};

const environment_choice& of_environment() {
  static const environment_choice made{};
  return made;
}

}  // namespace

const char* to_string(isa set) {
  switch (set) {
    case isa::generic: return "generic";
    case isa::avx2: return "avx2";
    case isa::avx512: return "avx512";
  }
  return "unknown";
}

isa best_isa() noexcept {
#if defined(__x86_64__)
  // The compiler's run-time library also asks XCR0, so a set that the system does not save across
  // context switches is not reported.
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2")) return isa::generic;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
    return isa::avx512;
  }
  return isa::avx2;
#else
  return isa::generic;
#endif
}

isa choose_isa(isa best, const char* word, std::string& complaint) {
  complaint.clear();
  if (word == nullptr || *word == '\0') return best;
  for (const isa asked : {isa::generic, isa::avx2, isa::avx512}) {
    if (std::strcmp(word, to_string(asked)) != 0) continue;
    if (asked <= best) return asked;
    complaint = "COUA_SIMD=" + std::string(word) + " is ignored: this machine supports " +
                to_string(best) + " at most";
    return best;
  }
  complaint = "COUA_SIMD=" + std::string(word) + " is ignored: use generic, avx2 or avx512";
  return best;
}

isa active_isa() {
  // Relaxed: the cap is one value that nothing else hangs on.
  return std::min(of_environment().chosen, cap.load(std::memory_order_relaxed));
}

const std::string& simd_complaint() { return of_environment().complaint; }

void cap_simd_bits(unsigned bits) noexcept {
  const isa widest = bits >= 512 ? isa::avx512 : bits >= 256 ? isa::avx2 : isa::generic;
  cap.store(widest, std::memory_order_relaxed);
}

std::vector<unsigned> allowed_cpus() {
  cpu_mask mask;
  std::vector<unsigned> cpus;
  if (sched_getaffinity(0, cpu_mask::bytes(), mask.get()) != 0) return {0};
  for (unsigned cpu = 0; cpu < cpu_mask::n_cpus; ++cpu) {
    if (mask.has(cpu)) cpus.push_back(cpu);
  }
  return cpus;
}

result<void> pin_this_thread(std::span<const unsigned> cpus) {
  cpu_mask mask;
  std::string list;
  for (const unsigned cpu : cpus) {
    list += (list.empty() ? "" : ",") + std::to_string(cpu);
    if (cpu < cpu_mask::n_cpus) mask.add(cpu);
  }
  if (sched_setaffinity(0, cpu_mask::bytes(), mask.get()) == 0) return {};
  if (errno == EINVAL) {
    return fail(errc::invalid, "cpus '" + list + "'",
                "no such CPU is online and allowed to this process");
  }
  return fail(errc::io, "cpus '" + list + "'", std::strerror(errno));
}

result<void> pin_this_thread(unsigned cpu) { return pin_this_thread(std::span(&cpu, 1)); }

void name_this_thread(std::string_view name) noexcept {
  std::array<char, 16> text{};
  name.copy(text.data(), text.size() - 1);
  pthread_setname_np(pthread_self(), text.data());
}

void wake_this_thread_late() noexcept {
  const sched_param none{};
  (void)pthread_setschedparam(pthread_self(), SCHED_BATCH, &none);
}

unsigned numa_node_of_cpu(unsigned cpu) {
  // The CPU's directory holds a link "nodeN".
  const std::string path = "/sys/devices/system/cpu/cpu" + std::to_string(cpu);
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(path.c_str()), closedir);
  if (!directory) return 0;
  while (const dirent* entry = readdir(directory.get())) {
    if (std::strncmp(entry->d_name, "node", 4) != 0) continue;
    unsigned node = 0;
    const char* end = entry->d_name + std::strlen(entry->d_name);
    const auto parsed = std::from_chars(entry->d_name + 4, end, node);
    if (parsed.ec == std::errc() && parsed.ptr == end) return node;
  }
  return 0;
}

std::size_t second_level_cache_bytes() noexcept {
  if (const char* const given = std::getenv("COUA_L2_BYTES"); given != nullptr) {
    const char* const end = given + std::strlen(given);
    std::size_t bytes = 0;
    const auto parsed = std::from_chars(given, end, bytes);
    if (parsed.ec == std::errc() && parsed.ptr == end && given != end) return bytes;
  }
  const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

std::size_t data_cache_bytes(unsigned level) noexcept {
  if (level == 2) return second_level_cache_bytes();
  // Not by sysconf(): of a third level it may add up the caches of all cores that do not share one.
  for (unsigned i = 0; i < 8; ++i) {
    const std::string of = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/";
    const std::string type = first_word(of + "type");
    if (first_word(of + "level") != std::to_string(level) || type == "Instruction") continue;
    const std::string size = first_word(of + "size");  // "32768K"
    std::size_t kib = 0;
    const auto parsed = std::from_chars(size.data(), size.data() + size.size(), kib);
    if (parsed.ec == std::errc() && *parsed.ptr == 'K') return kib << 10;
  }
  return 0;
}

}  // namespace coua
