// SPDX-License-Identifier: Apache-2.0
#include "bench/flow/coua_flows.h"

#include <array>

#include "bench/harness/options.h"
#include "simd/flow_lookup/line.h"

namespace coua::bench {
namespace {

/// Calls of an insert batch: what a packet program would hand over at once.
constexpr std::size_t insert_batch = 32;

using readers = std::vector<coua_flow_reader*>;
constexpr std::size_t hit_words = COUA_FLOW_WORDS(chunk_keys);

/// Answers of one call, and how the sink gets them.
struct answers {
  std::array<std::uint64_t, hit_words> hits{};
  std::vector<std::uint64_t> values;
  std::size_t value_words;
  bool has_values;

  answers(const flow_population& people, std::size_t most)
      : values(std::max<std::size_t>(most, 1) * people.value_words(), 1),
        value_words(people.value_words()),
        has_values(people.value_bytes != 0) {}
  void* room() { return has_values ? values.data() : nullptr; }
  template <typename Sink>
  void hand_over(std::size_t count, Sink& sink) {
    sink(count, hits.data(), [this](std::size_t i) { return values.data() + i * value_words; });
  }
};

// The calls, and how many answers each gives. Keys follow those that it takes.

struct batch_call {
  static std::size_t ask(coua_flow_reader* reader, const std::uint64_t* keys, std::size_t n,
                         std::size_t /*n_next*/, std::size_t /*words*/, answers& out) {
    coua_flow_lookup_batch(reader, keys, n, out.room(), out.hits.data());
    return n;
  }
};

struct ahead_call {
  static std::size_t ask(coua_flow_reader* reader, const std::uint64_t* keys, std::size_t n,
                         std::size_t n_next, std::size_t words, answers& out) {
    coua_flow_lookup_ahead(reader, keys, n, out.room(), out.hits.data(), keys + n * words, n_next);
    return n;
  }
};

struct pipeline_call {
  static std::size_t ask(coua_flow_reader* reader, const std::uint64_t* keys, std::size_t n,
                         std::size_t /*n_next*/, std::size_t /*words*/, answers& out) {
    return coua_flow_pipeline(reader, keys, n, out.room(), out.hits.data());
  }
  static std::size_t drain(coua_flow_reader* reader, answers& out) {
    return coua_flow_pipeline_drain(reader, out.room(), out.hits.data());
  }
};

template <typename Call>
class call_kernel {
 public:
  call_kernel(readers all, std::size_t keys, const flow_population& people)
      : by_thread_(std::move(all)), batch_(keys), key_words_(people.key_words()) {
    const std::size_t most = std::max(batch_, coua_flow_pipeline_depth(by_thread_.front()));
    rooms_.assign(by_thread_.size(), answers(people, most));
  }

  template <typename Sink>
  void each(unsigned thread, const std::uint64_t* keys, std::size_t n, Sink&& sink) {
    answers& out = rooms_[thread];
    for (std::size_t i = 0; i < n; i += batch_) {
      const std::size_t count = std::min(batch_, n - i);
      out.hand_over(
          Call::ask(by_thread_[thread], keys + i * key_words_, count, batch_, key_words_, out),
          sink);
    }
  }
  template <typename Sink>
  void rest(unsigned thread, Sink&& sink) {
    answers& out = rooms_[thread];
    if constexpr (requires { Call::drain(by_thread_[thread], out); }) {
      out.hand_over(Call::drain(by_thread_[thread], out), sink);
    }
  }

 private:
  readers by_thread_;
  std::size_t batch_;
  std::size_t key_words_;
  std::vector<answers> rooms_;  // by thread
};

/// Of a table with readers.
class flow_writer final : public churned {
 public:
  flow_writer(coua_flow_table* table, const flow_population& people, std::uint32_t units)
      : table_(table), people_(people), units_(units) {}

  std::size_t erase(std::uint64_t first, std::size_t count) override {
    make(first, count);
    return coua_flow_erase_batch(table_, keys_.data(), nullptr, count);
  }
  std::size_t insert(std::uint64_t first, std::size_t count) override {
    make(first, count);
    return static_cast<std::size_t>(coua_flow_insert_batch(table_, keys_.data(), nullptr,
                                                           values_.data(), count, units_, nullptr));
  }

 private:
  void make(std::uint64_t first, std::size_t count) {
    keys_.resize(count * people_.key_words());
    values_.resize(count * people_.value_words());
    people_.put_all(first, count, keys_.data(), values_.data());
  }

  coua_flow_table* table_;
  flow_population people_;
  std::uint32_t units_;
  std::vector<std::uint64_t> keys_, values_;
};

}  // namespace

coua_flows::one::~one() { coua_flow_destroy(table); }

coua_flows::coua_flows(const measured_params& params, flow_variant_word variant,
                       coua_flow_sync sync)
    : params_(params), variant_(std::move(variant)), sync_(sync), tables_(params.tables) {}

json coua_flows::params() const {
  return {{"sync", sync_ == COUA_FLOW_SINGLE ? "single" : "one-writer"}};
}

void* coua_flows::allocate_block(void* context, std::size_t bytes, std::size_t alignment) {
  auto& self = *static_cast<one*>(context);
  (void)alignment;  // at most a line; blocks start on a page
  result<arena> made = allocate(bytes, self.pages, 1);
  if (!made) {
    self.shortage = made.error();
    return nullptr;
  }
  return self.blocks.emplace_back(std::move(*made)).data();
}

void coua_flows::release_block(void* context, void* memory, std::size_t) {
  auto& blocks = static_cast<one*>(context)->blocks;
  std::erase_if(blocks, [memory](const arena& each) { return each.data() == memory; });
}

result<void> coua_flows::make(unsigned thread) {
  tables_[thread].reset();
  auto made = std::make_unique<one>();
  made->pages = params_.pages;
  coua_flow_params params = COUA_FLOW_PARAMS_INIT;
  params.buckets = (params_.capacity + params_.bucket_slots - 1) / params_.bucket_slots;
  params.bucket_slots = params_.bucket_slots;
  params.key_bytes = params_.people.key_bytes;
  params.value_bytes = params_.people.value_bytes;
  params.key_stride = static_cast<std::uint32_t>(params_.people.key_words() * 8);
  params.value_stride = static_cast<std::uint32_t>(params_.people.value_words() * 8);
  params.variant = variant_.variant;
  params.sync = sync_;
  params.timers = variant_.timers ? COUA_FLOW_TIMERS_ON : COUA_FLOW_TIMERS_OFF;
  params.allocate = allocate_block;
  params.release = release_block;
  params.context = made.get();
  std::array<char, 256> message{};
  const int code = coua_flow_create(&params, &made->table, message.data(), message.size());
  if (code != 0 && !made->shortage.what.empty()) return tl::unexpected(made->shortage);
  if (code != 0) return fail(errc::invalid, name(), message.data());
  if (coua_flow_reader_create(made->table, &made->reader) != 0) {
    return fail(errc::no_memory, name(), "no reader handle");
  }
  tables_[thread] = std::move(made);
  return {};
}

std::size_t coua_flows::insert(unsigned thread, const std::uint64_t* keys,
                               const std::uint64_t* values, std::size_t n) {
  const std::size_t key_words = params_.people.key_words();
  const std::size_t value_words = params_.people.value_words();
  std::size_t taken = 0;
  for (std::size_t i = 0; i < n; i += insert_batch) {
    taken += static_cast<std::size_t>(coua_flow_insert_batch(
        tables_[thread]->table, keys + i * key_words, nullptr, values + i * value_words,
        std::min(insert_batch, n - i), units(), nullptr));
  }
  return taken;
}

std::unique_ptr<churned> coua_flows::writer(unsigned thread) {
  if (sync_ != COUA_FLOW_ONE_WRITER) return nullptr;
  return std::make_unique<flow_writer>(tables_[thread]->table, params_.people, units());
}

std::uint64_t coua_flows::bytes() const { return stats(0).bytes; }

std::vector<std::uint64_t> coua_flows::moved_counts(unsigned thread) const {
  constexpr std::uint64_t moved_mask = (1 << simd::flow_via_shift) - 1;
  const auto* const lines =
      static_cast<const simd::flow_line*>(tables_[thread]->blocks.back().data());
  const std::uint64_t n_buckets = stats(thread).buckets;
  std::vector<std::uint64_t> out(1);
  for (std::uint64_t i = 0; i < n_buckets; ++i) {
    const std::uint64_t moved = lines[i].meta & moved_mask;
    if (moved >= out.size()) out.resize(moved + 1);
    ++out[moved];
  }
  return out;
}

coua_flow_stats coua_flows::stats(unsigned thread) const {
  coua_flow_stats out{};
  out.size = sizeof out;
  coua_flow_get_stats(tables_[thread]->table, &out);
  return out;
}

json coua_flows::describe() const {
  const coua_flow_stats now = stats(0);
  const auto entries = static_cast<double>(std::max<std::uint64_t>(1, now.entries));
  return {{"simd", coua_flow_simd(tables_.front()->table)},
          {"memory", to_string(memory().pages())},
          {"load_reached", static_cast<double>(now.entries) / static_cast<double>(now.slots)},
          {"in_secondary", static_cast<double>(now.in_secondary) / entries},
          {"moves_per_entry", static_cast<double>(now.moves) / entries}};
}

std::vector<std::unique_ptr<flow_lookup>> coua_flows::lookups() {
  readers all;
  for (const auto& each : tables_) all.push_back(each->reader);
  const flow_population& people = params_.people;
  std::vector<std::unique_ptr<flow_lookup>> out;
  for (const std::uint64_t batch : params_.batches) {
    const json params = {{"batch", batch}};
    for (const std::string& mode : params_.modes) {
      const std::string row = name() + "/" + mode;
      if (mode == "batch") {
        out.push_back(
            make_flow_lookup(row, params, people, call_kernel<batch_call>(all, batch, people)));
      } else if (mode == "ahead") {
        out.push_back(
            make_flow_lookup(row, params, people, call_kernel<ahead_call>(all, batch, people)));
      } else {
        out.push_back(
            make_flow_lookup(row, params, people, call_kernel<pipeline_call>(all, batch, people)));
      }
    }
  }
  return out;
}

}  // namespace coua::bench
