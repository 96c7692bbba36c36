// SPDX-License-Identifier: Apache-2.0
#include "bench/fib/coua_table.h"

#include <algorithm>
#include <array>

#include "base/cpu.h"
#include "bench/fib/bulk_source.h"
#include "bench/harness/options.h"

namespace coua::bench {
namespace {

using readers = const std::vector<coua_fib_reader*>*;

struct batch_call {
  readers by_thread;
  std::size_t operator()(unsigned thread, const std::uint64_t* keys, std::size_t n,
                         std::uint32_t* words) const {
    coua_fib_lookup_batch((*by_thread)[thread], keys, n, words);
    return n;
  }
};

struct ahead_call {
  readers by_thread;
  std::size_t batch;
  std::size_t operator()(unsigned thread, const std::uint64_t* keys, std::size_t n,
                         std::uint32_t* words) const {
    coua_fib_lookup_ahead((*by_thread)[thread], keys, n, words, keys + n, batch);
    return n;
  }
};

struct pipeline_call {
  readers by_thread;
  std::size_t operator()(unsigned thread, const std::uint64_t* keys, std::size_t n,
                         std::uint32_t* words) const {
    return coua_fib_pipeline((*by_thread)[thread], keys, n, words);
  }
  template <typename Sink>
  void drain(unsigned thread, Sink&& sink) const {
    std::vector<std::uint32_t> words(coua_fib_pipeline_depth((*by_thread)[thread]));
    sink(words.data(), coua_fib_pipeline_drain((*by_thread)[thread], words.data()));
  }
};

const char* layout_word(coua_fib_layout layout) {
  switch (layout) {
    case COUA_FIB_LAYOUT_AUTO: return "auto";
    case COUA_FIB_LAYOUT_PACKED8: return "packed8";
    case COUA_FIB_LAYOUT_PACKED4: return "packed4";
    case COUA_FIB_LAYOUT_WIDE8: return "wide8";
  }
  return "?";
}

}  // namespace

void* coua_table::allocate_block(void* self, std::size_t bytes, std::size_t alignment) {
  auto& table = *static_cast<coua_table*>(self);
  (void)alignment;  // at most a line; blocks start on a page
  result<arena> made = allocate(bytes, table.params_.pages);
  if (!made) {
    table.shortage_ = made.error();
    return nullptr;
  }
  return table.blocks_.emplace_back(std::move(*made)).data();
}

void coua_table::release_block(void* self, void* memory, std::size_t) {
  auto& blocks = static_cast<coua_table*>(self)->blocks_;
  std::erase_if(blocks, [memory](const arena& each) { return each.data() == memory; });
}

result<std::unique_ptr<coua_table>> coua_table::create(const coua_table_params& asked) {
  std::unique_ptr<coua_table> made(new coua_table(asked));
  coua_fib_params params = COUA_FIB_PARAMS_INIT;
  params.entries = asked.entries;
  params.max_load = asked.load;
  params.value_bits = asked.value_bits;
  params.layout = asked.layout;
  params.allocate = allocate_block;
  params.release = release_block;
  params.context = made.get();
  std::array<char, 256> message{};
  const int code = coua_fib_create(&params, &made->fib_, message.data(), message.size());
  if (code != 0 && !made->shortage_.what.empty()) return tl::unexpected(made->shortage_);
  if (code != 0) return fail(errc::invalid, "fib", message.data());
  for (unsigned i = 0; i < asked.readers; ++i) {
    coua_fib_reader* reader = nullptr;
    if (coua_fib_reader_create(made->fib_, &reader) != 0) {
      return fail(errc::no_memory, "fib", "no reader handle");
    }
    made->readers_.push_back(reader);
  }
  return made;
}

coua_table::~coua_table() {
  for (coua_fib_reader* each : readers_) coua_fib_reader_destroy(each);
  coua_fib_destroy(fib_);
}

unsigned coua_table::load_threads() const {
  if (params_.load_threads != 0) return params_.load_threads;
  return static_cast<unsigned>(
      std::min<std::size_t>(allowed_cpus().size(), COUA_FIB_LOAD_THREADS_MAX));
}

result<void> coua_table::load(const population& people) {
  const unsigned threads = load_threads();
  bulk_source source(people, threads);
  const int code = coua_fib_bulk_load(fib_, bulk_source::next, &source, threads, 1);
  const coua_fib_stats now = stats();
  if (code == 0 && now.entries == people.entries) return {};
  return fail(errc::no_room, "fib",
              "of " + std::to_string(people.entries) + " entries " + std::to_string(now.entries) +
                  " are in the table (" + std::to_string(now.refused) +
                  " refused): choose a lower --load");
}

std::uint64_t coua_table::bytes() const {
  std::uint64_t sum = 0;
  for (const arena& each : blocks_) sum += each.bytes_mapped();
  return sum;
}

const arena& coua_table::memory() const {
  return *std::max_element(blocks_.begin(), blocks_.end(),
                           [](const arena& a, const arena& b) { return a.bytes() < b.bytes(); });
}

coua_fib_stats coua_table::stats() const {
  coua_fib_stats out{};
  out.size = sizeof out;
  coua_fib_get_stats(fib_, &out);
  return out;
}

json coua_table::describe() const {
  const coua_fib_stats now = stats();
  return {{"layout", layout_word(now.layout)},
          {"value_bits", now.value_bits},
          {"simd", coua_fib_simd(fib_)},
          {"memory", to_string(memory().pages())},
          {"load", static_cast<double>(now.entries) / static_cast<double>(now.slots)},
          {"in_secondary", static_cast<double>(now.in_secondary) /
                               static_cast<double>(std::max<std::uint64_t>(1, now.entries))}};
}

answer_code coua_table::code() const {
  return {1u << COUA_FIB_ENTRY_VALUE_SHIFT, stats().epoch, COUA_FIB_MISS};
}

std::vector<std::unique_ptr<lookup>> coua_table::lookups() {
  std::vector<std::unique_ptr<lookup>> out;
  for (const std::uint64_t batch : params_.batches) {
    for (const std::string& mode : params_.modes) {
      if (mode == "batch") {
        out.push_back(make_batched_lookup("fib/batch", batch, batch_call{&readers_}));
      } else if (mode == "ahead") {
        out.push_back(make_batched_lookup("fib/ahead", batch, ahead_call{&readers_, batch}));
      } else {
        out.push_back(make_batched_lookup("fib/pipeline", batch, pipeline_call{&readers_}));
      }
    }
  }
  return out;
}

}  // namespace coua::bench
