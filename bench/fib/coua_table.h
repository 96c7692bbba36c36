// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coua/fib.h>

#include <memory>
#include <string>
#include <vector>

#include "base/arena.h"
#include "bench/fib/lookup_table.h"

namespace coua::bench {

struct coua_table_params {
  std::uint64_t entries = 0;
  double load = 0.95;
  unsigned value_bits = 0;  // 0: the table's default
  coua_fib_layout layout = COUA_FIB_LAYOUT_AUTO;
  page_kind pages = page_kind::automatic;
  std::vector<std::string> modes;      // batch, ahead, pipeline
  std::vector<std::uint64_t> batches;  // keys to a call
  unsigned readers = 1;                // threads that will look up
  unsigned load_threads = 0;           // 0: all CPUs
};

/// Our table, through its C API. Its memory comes from an arena of the benchmark, so that the line
/// limit is measured on the very bytes that the table uses.
class coua_table final : public lookup_table {
 public:
  static result<std::unique_ptr<coua_table>> create(const coua_table_params&);
  ~coua_table() override;

  std::string name() const override { return "fib"; }
  result<void> load(const population&) override;
  unsigned load_threads() const override;
  std::uint64_t bytes() const override;
  json describe() const override;
  answer_code code() const override;
  std::vector<std::unique_ptr<lookup>> lookups() override;

  coua_fib* fib() const { return fib_; }
  coua_fib_stats stats() const;
  /// The largest block, which holds the slots.
  const arena& memory() const;

 private:
  explicit coua_table(const coua_table_params& params) : params_(params) {}
  static void* allocate_block(void* self, std::size_t bytes, std::size_t alignment);
  static void release_block(void* self, void* memory, std::size_t bytes);

  coua_table_params params_;
  std::vector<arena> blocks_;
  error shortage_{};  // why the last allocation failed
  coua_fib* fib_ = nullptr;
  std::vector<coua_fib_reader*> readers_;
};

}  // namespace coua::bench
