// SPDX-License-Identifier: Apache-2.0
//
// Workers neither allocate nor lock: what they call of either is counted here, in front of the C
// library. (A sanitizer stands there itself.)
#ifndef COUA_SANITIZED

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <shared_mutex>

#include "base/cpu.h"
#include "dp/test_pipeline.h"

namespace {

std::atomic<pid_t> watched{0};  // 0: no thread
std::atomic<unsigned> allocations{0}, locks{0};

void note(std::atomic<unsigned>& calls) noexcept {
  const pid_t whom = watched.load(std::memory_order_relaxed);
  if (whom != 0 && whom == gettid()) calls.fetch_add(1, std::memory_order_relaxed);
}

template <typename Function>
Function next(Function, const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {
// dlsym() allocates, so these are called by their other names.
void* libc_malloc(std::size_t bytes) __asm__("__libc_malloc");
void* libc_calloc(std::size_t n, std::size_t each) __asm__("__libc_calloc");
void* libc_realloc(void* old, std::size_t bytes) __asm__("__libc_realloc");
void* libc_memalign(std::size_t to, std::size_t bytes) __asm__("__libc_memalign");
void libc_free(void* old) __asm__("__libc_free");

void* malloc(std::size_t bytes) noexcept {
  note(allocations);
  return libc_malloc(bytes);
}
void* calloc(std::size_t n, std::size_t each) noexcept {
  note(allocations);
  return libc_calloc(n, each);
}
void* realloc(void* old, std::size_t bytes) noexcept {
  note(allocations);
  return libc_realloc(old, bytes);
}
void* aligned_alloc(std::size_t to, std::size_t bytes) noexcept {
  note(allocations);
  return libc_memalign(to, bytes);
}
int posix_memalign(void** made, std::size_t to, std::size_t bytes) noexcept {
  note(allocations);
  *made = libc_memalign(to, bytes);
  return *made != nullptr ? 0 : ENOMEM;
}
void free(void* old) noexcept {
  note(allocations);
  libc_free(old);
}

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  static const auto real = next(&pthread_mutex_lock, "pthread_mutex_lock");
  note(locks);
  return real(mutex);
}
int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  static const auto real = next(&pthread_rwlock_rdlock, "pthread_rwlock_rdlock");
  note(locks);
  return real(lock);
}
int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  static const auto real = next(&pthread_rwlock_wrlock, "pthread_rwlock_wrlock");
  note(locks);
  return real(lock);
}
}

namespace coua::dp {
namespace {

using pipeline::field;
using pipeline::test::add_rule;
using pipeline::test::apply;
using pipeline::test::output;
namespace act = pipeline::act;

pid_t thread_of(const std::string& name) {
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string found;
    if (std::getline(std::ifstream(each.path() / "comm"), found) && found == name)
      return std::stoi(each.path().filename());
  }
  return 0;
}

class packet_path_test : public pipeline_test {
 protected:
  void SetUp() override {
    cores_ = {allowed_cpus().back()};  // all ports are those of one worker
    pipeline_test::SetUp();
  }
  void TearDown() override {
    watched = 0;
    pipeline_test::TearDown();
  }
  static void watch(pid_t thread) {
    allocations = locks = 0;
    watched = thread;
  }
  /// From its second frame on: as it starts, its thread allocates.
  void watch_worker() {
    ASSERT_TRUE(rings_.at("c")->send(make_frame(broadcast, host(4))));
    ASSERT_TRUE(eventually([&] { return received() == 1; }));
    watch(thread_of("coua-worker0"));
    ASSERT_NE(watched, 0);
  }
  /// Frames to learned, unknown and all stations, from new, known and moved ones, until they are
  /// through; nothing of them is looked at.
  void send_all_kinds() {
    constexpr unsigned rounds = 40;
    std::uint64_t n = received();
    for (unsigned i = 0; i < rounds; ++i) {
      for (const auto& [name, port] : rings_) {
        for (const std::uint64_t to : {host(1), host(2), host(3), host(5000 + i), broadcast}) {
          const bool is_new = i % 4 == 0;
          const std::uint64_t from = host(is_new ? 1000 + static_cast<unsigned>(n) : 10 + i % 3);
          ASSERT_TRUE(port->send(make_frame(to, from, name == "t" ? 10 : -1)));
          ++n;
        }
      }
      ASSERT_TRUE(eventually([&] { return received() == n; }));
      for (const auto& [name, port] : rings_)
        while (port->came_out() > 0) (void)port->receive();
    }
  }
  std::uint64_t received() { return value(switch_->totals(), "rx_packets"); }

  void start_ports() {
    for (const char* name : {"a", "b", "c"}) access(name, 10);
    trunk("t", 0, {10});
    const std::vector<fib_entry> hosts{{10, host(1), numbers_["a"], false, 0},
                                       {10, host(2), numbers_["b"], true, 0},
                                       {10, host(3), numbers_["t"], true, 0}};
    ASSERT_TRUE(switch_->fib_insert(hosts));
  }
};

TEST_F(packet_path_test, what_counts_calls_sees_them) {
  watch(gettid());
  auto made = std::make_unique<std::vector<int>>(1000);
  std::mutex one;
  one.lock();
  one.unlock();
  std::shared_mutex many;
  many.lock_shared();
  many.unlock_shared();
  made.reset();
  watched = 0;
  EXPECT_EQ(allocations, 4u);
  EXPECT_EQ(locks, 2u);
}

TEST_F(packet_path_test, the_l2_switch_neither_allocates_nor_locks) {
  start_ports();
  watch_worker();
  send_all_kinds();
  EXPECT_EQ(allocations, 0u);
  EXPECT_EQ(locks, 0u);
  const fib_status fib = switch_->fib();
  EXPECT_GT(fib.moved, 0u);
  EXPECT_GT(fib.entries, 100u);
  EXPECT_GT(counts_of_vlan(10)["forwarded"], 0u);
  EXPECT_GT(counts_of_vlan(10)["flooded"], 0u);
}

TEST_F(packet_path_test, rules_neither_allocate_nor_lock) {
  start_ports();
  must({add_rule(0, 10, from("a"),
                 apply({act::push_vlan{0x8100}, act::set(field::vlan_vid, 0x1000 | 10),
                        output(number("b")), output(number("t"))})),
        add_rule(0, 10, from("b"), apply({output(pipeline::port_controller)})),
        add_rule(0, 10, from("c"), {})});
  watch_worker();
  send_all_kinds();
  EXPECT_EQ(allocations, 0u);
  EXPECT_EQ(locks, 0u);
  EXPECT_GT(count("a", "pipeline_copies"), 0u);
  EXPECT_GT(count("b", "to_controller"), 0u);
  EXPECT_GT(count("c", "drop_pipeline"), 0u);
  EXPECT_GT(count("t", "flooded"), 0u);
}

}  // namespace
}  // namespace coua::dp

#endif
