// SPDX-License-Identifier: Apache-2.0
#include "base/cpu.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

namespace coua {
namespace {

TEST(cpu, environment_lowers_but_never_raises) {
  struct {
    isa best;
    const char* word;
    isa chosen;
    const char* complaint;
  } const cases[] = {
      {isa::avx512, nullptr, isa::avx512, ""},
      {isa::avx512, "", isa::avx512, ""},
      {isa::avx512, "avx512", isa::avx512, ""},
      {isa::avx512, "avx2", isa::avx2, ""},
      {isa::avx512, "generic", isa::generic, ""},
      {isa::avx2, "avx512", isa::avx2,
       "COUA_SIMD=avx512 is ignored: this machine supports avx2 at most"},
      {isa::generic, "avx2", isa::generic,
       "COUA_SIMD=avx2 is ignored: this machine supports generic at most"},
      {isa::avx512, "AVX2", isa::avx512, "COUA_SIMD=AVX2 is ignored: use generic, avx2 or avx512"},
      {isa::avx2, "sse", isa::avx2, "COUA_SIMD=sse is ignored: use generic, avx2 or avx512"},
  };
  for (const auto& c : cases) {
    std::string complaint = "left over";
    EXPECT_EQ(choose_isa(c.best, c.word, complaint), c.chosen);
    EXPECT_EQ(complaint, c.complaint);
  }
}

TEST(cpu, environment_overrides_the_size_of_the_second_level_cache) {
  unsetenv("COUA_L2_BYTES");
  const std::size_t own = second_level_cache_bytes();
  for (const char* wrong : {"", "x", "1M", "-1", " 1"}) {
    setenv("COUA_L2_BYTES", wrong, 1);
    EXPECT_EQ(second_level_cache_bytes(), own) << wrong;
  }
  setenv("COUA_L2_BYTES", "12345", 1);
  EXPECT_EQ(second_level_cache_bytes(), 12345u);
  EXPECT_EQ(data_cache_bytes(2), 12345u);
  EXPECT_EQ(data_cache_bytes(0), 0u);
  EXPECT_EQ(data_cache_bytes(4), 0u);
  unsetenv("COUA_L2_BYTES");
}

#if defined(__x86_64__)
TEST(cpu, best_set_agrees_with_what_the_kernel_lists) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line) && line.rfind("flags", 0) != 0) {
  }
  if (line.empty()) GTEST_SKIP() << "no flags in /proc/cpuinfo";
  line += ' ';
  const auto has = [&](const char* flag) {
    return line.find(" " + std::string(flag) + " ") != std::string::npos;
  };
  const bool wide = has("avx512f") && has("avx512bw") && has("avx512vl") && has("avx512dq");
  EXPECT_EQ(best_isa(), !has("avx2") ? isa::generic : wide ? isa::avx512 : isa::avx2);
}
#endif

// Death tests run in processes of their own, which read the environment anew.
TEST(cpu_death, tells_of_an_unknown_word_and_prints_nothing) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("COUA_SIMD", "mmx", 1);
        const bool ignored = active_isa() == best_isa();
        const bool told =
            simd_complaint() == "COUA_SIMD=mmx is ignored: use generic, avx2 or avx512";
        std::exit(ignored && told ? 0 : 1);
      },
      testing::ExitedWithCode(0), "^$");
}

TEST(cpu_death, obeys_the_environment_and_the_cap) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("COUA_SIMD", "generic", 1);
        std::exit(active_isa() == isa::generic && simd_complaint().empty() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(
      {
        unsetenv("COUA_SIMD");
        const isa best = best_isa();
        bool ok = active_isa() == best;
        cap_simd_bits(256);
        ok = ok && active_isa() == std::min(best, isa::avx2);
        cap_simd_bits(128);
        ok = ok && active_isa() == isa::generic;
        cap_simd_bits(512);
        ok = ok && active_isa() == best;
        std::exit(ok ? 0 : 1);
      },
      testing::ExitedWithCode(0), "^$");
}

TEST(cpu, pins_and_names_a_thread) {
  const std::vector<unsigned> before = allowed_cpus();
  ASSERT_FALSE(before.empty());
  EXPECT_TRUE(std::is_sorted(before.begin(), before.end()));
  std::thread([&] {
    ASSERT_TRUE(pin_this_thread(before.back()));
    EXPECT_EQ(allowed_cpus(), std::vector<unsigned>{before.back()});
    name_this_thread("coua-a-name-that-is-too-long");
    char name[16];
    ASSERT_EQ(pthread_getname_np(pthread_self(), name, sizeof name), 0);
    EXPECT_STREQ(name, "coua-a-name-tha");
    ASSERT_TRUE(pin_this_thread(before));
    EXPECT_EQ(allowed_cpus(), before);
  }).join();
  EXPECT_EQ(allowed_cpus(), before);
}

TEST(cpu, a_thread_is_woken_late) {
  std::thread([] {
    wake_this_thread_late();
    EXPECT_EQ(sched_getscheduler(0), SCHED_BATCH);
  }).join();
  EXPECT_NE(sched_getscheduler(0), SCHED_BATCH);
}

TEST(cpu, pinning_to_no_or_an_absent_cpu_is_an_error) {
  const std::vector<unsigned> before = allowed_cpus();
  for (const unsigned cpu : {8191U, 1'000'000U}) {
    const result<void> pinned = pin_this_thread(cpu);
    ASSERT_FALSE(pinned);
    EXPECT_EQ(pinned.error().code, errc::invalid);
    EXPECT_EQ(pinned.error().where, "cpus '" + std::to_string(cpu) + "'");
  }
  EXPECT_FALSE(pin_this_thread(std::span<const unsigned>()));
  EXPECT_EQ(allowed_cpus(), before);
}

}  // namespace
}  // namespace coua
