// SPDX-License-Identifier: Apache-2.0
//
// The C API of set separation: checks arguments, turns errors into numbers, keeps exceptions
// inside, and hashes keys.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <vector>

#include "base/cpu.h"
#include "base/parallel.h"
#include "base/system_memory.h"
#include "coua/setsep.h"
#include "lib/bytes.h"
#include "lib/errors.h"
#include "lib/kept_errno.h"
#include "lib/params.h"
#include "setsep/builder.h"
#include "setsep/key_hasher.h"
#include "setsep/replica.h"
#include "setsep/snapshot_file.h"

namespace setsep = coua::setsep;
using coua::bytes;
using coua::errno_of;
using coua::kept_errno;
using coua::refuse;
using coua::take_params;

static_assert(sizeof(coua_setsep_hash) == sizeof(setsep::key_hash) &&
              offsetof(coua_setsep_hash, low) == offsetof(setsep::key_hash, low));

namespace {

/// The readers of a builder or replica, which outlives them.
struct reader_list {
  std::mutex mutex;
  std::vector<std::unique_ptr<coua_setsep_reader>> all;
};

const setsep::key_hash* ours(const coua_setsep_hash* hashes) {
  return reinterpret_cast<const setsep::key_hash*>(hashes);
}
setsep::key_hash* ours(coua_setsep_hash* hashes) {
  return reinterpret_cast<setsep::key_hash*>(hashes);
}

}  // namespace

struct coua_setsep_builder {
  std::unique_ptr<setsep::key_hasher> hasher;
  std::unique_ptr<setsep::builder> builder;
  reader_list readers;  // gone before the table is
};

struct coua_setsep_replica {
  explicit coua_setsep_replica(const setsep::replica_params& params) : replica(params) {}
  std::optional<setsep::key_hasher> hasher;          // here: a map that was loaded cannot fail
  const setsep::key_hasher* shown_hasher = nullptr;  // once there is a map
  setsep::replica replica;
  reader_list readers;  // gone before the table is
};

struct coua_setsep_reader {
  reader_list* list;
  const setsep::key_hasher* const* hasher;
  const setsep::key_hasher* own_hasher;  // what `hasher` points to, of a builder
  std::unique_ptr<setsep::reader> reader;
};

namespace {

int open_reader(reader_list& list, const setsep::table_source& source,
                const setsep::key_hasher* fixed, const setsep::key_hasher* const* shown,
                coua_setsep_reader** reader) {
  auto made = setsep::reader::create(source);
  if (!made) return -errno_of(made.error().code);
  auto handle = std::make_unique<coua_setsep_reader>();
  handle->list = &list;
  handle->own_hasher = fixed;
  handle->hasher = fixed != nullptr ? &handle->own_hasher : shown;
  handle->reader = std::move(*made);
  const std::lock_guard guard(list.mutex);
  *reader = handle.get();
  list.all.push_back(std::move(handle));
  return 0;
}

/// Hashes some keys at a time, and calls each(hashes, from, n).
template <class Each>
void hash_some(const setsep::key_hasher& hasher, const void* keys, std::size_t n,
               const Each& each) {
  setsep::key_hash hashes[coua::simd::setsep_batch];
  for (std::size_t done = 0; done < n; done += std::size(hashes)) {
    const std::size_t part = std::min(std::size(hashes), n - done);
    hasher.hash_batch(bytes(keys) + done * hasher.key_bytes(), part, hashes);
    each(hashes, done, part);
  }
}

bool is_node(std::int32_t numa_node) {
  return numa_node == -1 || coua::numa_node_exists(numa_node);
}

/// That build a map, at most.
constexpr unsigned threads_max = 256;

/// Of a builder of `n` keys.
int check_params(const coua_setsep_params& params, std::size_t n, char* message,
                 std::size_t message_bytes) {
  const auto bad = [&](const char* what) { return refuse(EINVAL, what, message, message_bytes); };
  if (params.key_bytes < 1 || params.key_bytes > COUA_SETSEP_KEY_BYTES_MAX) {
    return bad("key_bytes: 1 to 128");
  }
  if (params.value_bits > COUA_SETSEP_VALUE_BITS_MAX) return bad("value_bits: 1 to 16");
  for (const std::uint32_t bits : {params.index_bits, params.array_bits}) {
    if (bits != 0 && bits != 8 && bits != 16) return bad("index_bits and array_bits: 8 or 16");
  }
  if (params.keys_max > COUA_SETSEP_KEYS_MAX) return bad("keys_max: to 2^32");
  if (params.threads > threads_max) return bad("threads: to 256");
  if (n > COUA_SETSEP_KEYS_MAX) return bad("n: to 2^32");
  if (!is_node(params.numa_node)) {
    return refuse(ENOENT, "numa_node: a node that the system has, or -1", message, message_bytes);
  }
  return 0;
}

unsigned all_processors() {
  return static_cast<unsigned>(std::min<std::size_t>(coua::allowed_cpus().size(), threads_max));
}

setsep::build_params ours(const coua_setsep_params& params) {
  setsep::build_params made;
  made.shape.value_bits = params.value_bits == 0 ? 1 : params.value_bits;
  made.shape.index_bytes = params.index_bits == 8 ? 1 : 2;
  made.shape.array_bytes = params.array_bits == 16 ? 2 : 1;
  made.threads = params.threads == 0 ? all_processors() : params.threads;
  made.keys_room = params.keys_max;
  made.instruction_set = coua::active_isa();
  made.memory.numa_node = params.numa_node;
  if (params.progress != nullptr) {
    made.progress = [call = params.progress, context = params.context](
                        std::uint64_t done, std::uint64_t all) { call(context, done, all); };
  }
  return made;
}

/// Answers for a snapshot that was taken, or refused.
int brought_up(coua_setsep_replica& replica, const coua::result<setsep::table_version>& loaded,
               char* message, std::size_t message_bytes) {
  if (!loaded) {
    return refuse(errno_of(loaded.error().code), loaded.error().message(), message, message_bytes);
  }
  if (!replica.hasher && replica.replica.key_bytes() != 0) {
    const setsep::key_hasher& hasher =
        replica.hasher.emplace(*replica.replica.key(), replica.replica.key_bytes());
    coua::store_release(&replica.shown_hasher, &hasher);  // with the load of a reader that hashes
  }
  return 0;
}

void fill(const setsep::table& table, coua_setsep_stats& stats) {
  stats.blocks = table.size().n_blocks;
  stats.blocks_max = table.n_blocks_room();
  stats.fallback = table.fallback().size();
  stats.bytes = table.bytes_used();
}

int answer(const coua_setsep_stats& all, coua_setsep_stats* stats) {
  const std::size_t size = stats->size;
  std::memcpy(stats, &all, std::min(size, sizeof all));
  stats->size = size;
  return 0;
}

}  // namespace

extern "C" {

int coua_setsep_builder_create(const struct coua_setsep_params* params, const void* keys,
                               const uint16_t* values, size_t n, coua_setsep_builder** builder,
                               char* message, size_t message_bytes) try {
  const kept_errno kept;
  if (params == nullptr || builder == nullptr ||
      (n != 0 && (keys == nullptr || values == nullptr))) {
    return refuse(EINVAL, "params, builder, keys and values must not be null", message,
                  message_bytes);
  }
  *builder = nullptr;
  coua_setsep_params known = COUA_SETSEP_PARAMS_INIT;
  const std::string wrong =
      take_params(*params, "coua_setsep_params", offsetof(coua_setsep_params, index_bits), known);
  if (!wrong.empty()) return refuse(EINVAL, wrong, message, message_bytes);
  if (const int bad = check_params(known, n, message, message_bytes); bad != 0) return bad;
  const setsep::build_params how = ours(known);
  coua::hash_key key;
  if (known.hash_key != nullptr) {
    std::copy_n(known.hash_key, key.size(), key.begin());
  } else if (auto drawn = coua::draw_hash_key(); drawn) {
    key = *drawn;
  } else {
    return refuse(errno_of(drawn.error().code), drawn.error().message(), message, message_bytes);
  }
  auto handle = std::make_unique<coua_setsep_builder>();
  handle->hasher = std::make_unique<setsep::key_hasher>(key, known.key_bytes);
  std::vector<setsep::keyed_value> all(n);
  coua::in_parallel(how.threads, [&](unsigned t) {
    const std::size_t end = n * (t + 1) / how.threads;
    for (std::size_t i = n * t / how.threads; i < end; ++i) {
      all[i] = {(*handle->hasher)(bytes(keys) + i * known.key_bytes), values[i]};
    }
  });
  auto made = setsep::builder::create(all, how, key, known.key_bytes);
  if (!made) {
    return refuse(errno_of(made.error().code), made.error().message(), message, message_bytes);
  }
  handle->builder = std::move(*made);
  *builder = handle.release();
  return 0;
} catch (const std::bad_alloc&) {
  return refuse(ENOMEM, "out of memory", message, message_bytes);
} catch (...) {
  return refuse(EIO, "unexpected failure", message, message_bytes);
}

void coua_setsep_builder_destroy(coua_setsep_builder* builder) {
  const kept_errno kept;
  delete builder;
}

int coua_setsep_put(coua_setsep_builder* builder, const void* key, uint16_t value) try {
  const kept_errno kept;
  const auto done = builder->builder->put({(*builder->hasher)(key), value});
  if (!done) return -errno_of(done.error().code);
  switch (*done) {
    case setsep::put_result::added: return COUA_SETSEP_ADDED;
    case setsep::put_result::updated: return COUA_SETSEP_UPDATED;
    case setsep::put_result::unchanged: break;
  }
  return COUA_SETSEP_UNCHANGED;
} catch (...) {
  return -ENOMEM;
}

int coua_setsep_remove(coua_setsep_builder* builder, const void* key) try {
  const kept_errno kept;
  const auto done = builder->builder->remove((*builder->hasher)(key));
  if (!done) return -errno_of(done.error().code);
  return *done ? 0 : -ENOENT;
} catch (...) {
  return -ENOMEM;
}

int coua_setsep_get(const coua_setsep_builder* builder, const void* key) {
  const int value = builder->builder->value_of((*builder->hasher)(key));
  return value < 0 ? -ENOENT : value;
}

int coua_setsep_grow(coua_setsep_builder* builder) try {
  const kept_errno kept;
  const auto done = builder->builder->grow();
  return done ? 0 : -errno_of(done.error().code);
} catch (...) {
  return -ENOMEM;
}

size_t coua_setsep_delta_bytes(const coua_setsep_builder* builder) {
  return builder->builder->pending_bytes();
}

long coua_setsep_take_delta(coua_setsep_builder* builder, void* delta, size_t max) {
  const kept_errno kept;
  if (builder->builder->pending_bytes() > max) return -ENOSPC;
  const auto taken = builder->builder->take_delta();
  if (!taken.empty()) std::memcpy(delta, taken.data(), taken.size());
  return static_cast<long>(taken.size());
}

size_t coua_setsep_snapshot_bytes(const coua_setsep_builder* builder) {
  return builder->builder->snapshot_bytes();
}

int coua_setsep_snapshot(const coua_setsep_builder* builder, void* snapshot, size_t bytes) try {
  const kept_errno kept;
  const auto done = builder->builder->snapshot({static_cast<std::uint8_t*>(snapshot), bytes});
  return done ? 0 : -errno_of(done.error().code);
} catch (...) {
  return -ENOMEM;
}

int coua_setsep_write_snapshot(const coua_setsep_builder* builder, const char* path, char* message,
                               size_t message_bytes) try {
  const kept_errno kept;
  if (builder == nullptr || path == nullptr) {
    return refuse(EINVAL, "builder and path must not be null", message, message_bytes);
  }
  std::vector<std::uint8_t> snapshot(builder->builder->snapshot_bytes());
  auto done = builder->builder->snapshot(snapshot);
  if (done) done = setsep::write_snapshot_file(path, snapshot);
  if (done) return 0;
  return refuse(errno_of(done.error().code), done.error().message(), message, message_bytes);
} catch (...) {
  return refuse(ENOMEM, "out of memory", message, message_bytes);
}

int coua_setsep_replica_create(const struct coua_setsep_replica_params* params,
                               coua_setsep_replica** replica) try {
  const kept_errno kept;
  if (params == nullptr || replica == nullptr) return -EINVAL;
  *replica = nullptr;
  coua_setsep_replica_params known = COUA_SETSEP_REPLICA_PARAMS_INIT;
  if (!take_params(*params, "coua_setsep_replica_params",
                   offsetof(coua_setsep_replica_params, numa_node), known)
           .empty()) {
    return -EINVAL;
  }
  if (known.keys_max > COUA_SETSEP_KEYS_MAX || known.reserved != 0) return -EINVAL;
  if (!is_node(known.numa_node)) return -ENOENT;
  setsep::replica_params how;
  how.keys_room = known.keys_max;
  how.instruction_set = coua::active_isa();
  how.memory.numa_node = known.numa_node;
  *replica = new coua_setsep_replica(how);
  return 0;
} catch (...) {
  return -ENOMEM;
}

void coua_setsep_replica_destroy(coua_setsep_replica* replica) {
  const kept_errno kept;
  delete replica;
}

int coua_setsep_replica_load(coua_setsep_replica* replica, const void* snapshot, size_t n_bytes,
                             char* message, size_t message_bytes) try {
  const kept_errno kept;
  if (replica == nullptr || snapshot == nullptr) {
    return refuse(EINVAL, "replica and snapshot must not be null", message, message_bytes);
  }
  return brought_up(*replica, replica->replica.load({bytes(snapshot), n_bytes}), message,
                    message_bytes);
} catch (...) {
  return refuse(ENOMEM, "out of memory", message, message_bytes);
}

int coua_setsep_replica_map(coua_setsep_replica* replica, const char* path, char* message,
                            size_t message_bytes) try {
  const kept_errno kept;
  if (replica == nullptr || path == nullptr) {
    return refuse(EINVAL, "replica and path must not be null", message, message_bytes);
  }
  return brought_up(*replica, replica->replica.map(path), message, message_bytes);
} catch (...) {
  return refuse(ENOMEM, "out of memory", message, message_bytes);
}

int coua_setsep_replica_apply(coua_setsep_replica* replica, const void* delta, size_t n_bytes) try {
  const kept_errno kept;
  if (replica == nullptr) return -EINVAL;
  if (n_bytes == 0) return COUA_SETSEP_OLD;  // what take_delta gave where nothing had changed
  if (delta == nullptr) return -EINVAL;
  const auto outcome = replica->replica.apply(std::span(bytes(delta), n_bytes));
  if (!outcome) return -errno_of(outcome.error().code);
  switch (*outcome) {
    case setsep::delta_outcome::applied: return COUA_SETSEP_APPLIED;
    case setsep::delta_outcome::old: return COUA_SETSEP_OLD;
    case setsep::delta_outcome::gap: break;
  }
  return COUA_SETSEP_GAP;
} catch (...) {
  return -ENOMEM;
}

int coua_setsep_get_stats(const coua_setsep_builder* builder, struct coua_setsep_stats* stats) {
  if (builder == nullptr || stats == nullptr || stats->size == 0) return -EINVAL;
  const setsep::builder& of = *builder->builder;
  coua_setsep_stats all{};
  fill(of.table(), all);
  all.keys = of.n_keys();
  all.key_bytes = of.key_bytes();
  all.sequence = of.version().sequence;
  all.added = of.counts().added;
  all.updated = of.counts().updated;
  all.removed = of.counts().removed;
  all.groups = of.counts().groups;
  all.moves = of.counts().moves;
  return answer(all, stats);
}

int coua_setsep_replica_get_stats(const coua_setsep_replica* replica,
                                  struct coua_setsep_stats* stats) {
  if (replica == nullptr || stats == nullptr || stats->size == 0) return -EINVAL;
  const setsep::replica& of = replica->replica;
  coua_setsep_stats all{};
  if (of.table() != nullptr) fill(*of.table(), all);
  all.keys = of.n_keys();
  all.sequence = of.version().sequence;
  all.deltas = of.n_deltas();
  return answer(all, stats);
}

int coua_setsep_builder_reader(coua_setsep_builder* builder, coua_setsep_reader** reader) try {
  const kept_errno kept;
  if (builder == nullptr || reader == nullptr) return -EINVAL;
  return open_reader(builder->readers, builder->builder->source(), builder->hasher.get(), nullptr,
                     reader);
} catch (...) {
  return -ENOMEM;
}

int coua_setsep_replica_reader(coua_setsep_replica* replica, coua_setsep_reader** reader) try {
  const kept_errno kept;
  if (replica == nullptr || reader == nullptr) return -EINVAL;
  return open_reader(replica->readers, replica->replica.source(), nullptr, &replica->shown_hasher,
                     reader);
} catch (...) {
  return -ENOMEM;
}

void coua_setsep_reader_destroy(coua_setsep_reader* reader) {
  const kept_errno kept;
  if (reader == nullptr) return;
  reader_list& list = *reader->list;
  const std::lock_guard guard(list.mutex);
  std::erase_if(list.all, [&](const auto& each) { return each.get() == reader; });
}

void coua_setsep_lookup_batch(coua_setsep_reader* reader, const void* keys, size_t n,
                              uint16_t* values) {
  const setsep::key_hasher* const hasher = coua::load_acquire(reader->hasher);
  if (hasher == nullptr) {
    std::fill_n(values, n, std::uint16_t{0});
    return;
  }
  hash_some(*hasher, keys, n,
            [&](const setsep::key_hash* hashes, std::size_t at, std::size_t part) {
              reader->reader->find_batch(hashes, part, values + at);
            });
}

int coua_setsep_hash_batch(const coua_setsep_reader* reader, const void* keys, size_t n,
                           struct coua_setsep_hash* hashes) {
  const setsep::key_hasher* const hasher = coua::load_acquire(reader->hasher);
  if (hasher == nullptr) return -EAGAIN;
  hasher->hash_batch(keys, n, ours(hashes));
  return 0;
}

void coua_setsep_lookup_hashed(coua_setsep_reader* reader, const struct coua_setsep_hash* hashes,
                               size_t n, uint16_t* values) {
  reader->reader->find_batch(ours(hashes), n, values);
}

size_t coua_setsep_pipeline(coua_setsep_reader* reader, const struct coua_setsep_hash* hashes,
                            size_t n, uint16_t* values) {
  return reader->reader->submit(ours(hashes), n, values);
}

size_t coua_setsep_pipeline_depth(const coua_setsep_reader*) {
  return setsep::lookup_pipeline::depth;
}

size_t coua_setsep_pipeline_drain(coua_setsep_reader* reader, uint16_t* values) {
  return reader->reader->drain(values);
}

void coua_setsep_reader_pause(coua_setsep_reader* reader) { reader->reader->pause(); }

}  // extern "C"
