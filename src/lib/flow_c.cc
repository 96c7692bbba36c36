// SPDX-License-Identifier: Apache-2.0
//
// The C API of the flow table: checks arguments, turns errors into numbers, and keeps exceptions
// inside.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "coua/flow_table.h"
#include "flow/flow_cursor.h"
#include "flow/flow_slab.h"
#include "flow/flow_table.h"
#include "lib/bytes.h"
#include "lib/errors.h"
#include "lib/kept_errno.h"
#include "lib/params.h"

struct coua_flow_table {
  std::unique_ptr<coua::flow_table> table;
  std::mutex handles_mutex;
  std::vector<coua_flow_reader*> readers;
  std::vector<coua_flow_cursor*> cursors;
};

struct coua_flow_reader {
  coua_flow_table* owner;
  // Copies: a reader touches nothing of the handle that the writer may write.
  coua::simd::flow_view view;
  const coua::simd::flow_kernels* kernels;
  bool timed;
  coua::simd::flow_reader_state state;
  explicit coua_flow_reader(coua_flow_table* table)
      : owner(table),
        view(table->table->view()),
        kernels(&table->table->kernels()),
        timed(table->table->geometry().kind.timed),
        state(view) {}
};

struct coua_flow_cursor {
  coua_flow_table* owner;
  coua::flow_cursor cursor;
  coua_flow_cursor(coua_flow_table* table, coua::moved_keys moved)
      : owner(table), cursor(*table->table, std::move(moved)) {}
};

struct coua_flow_slab {
  coua::flow_slab slab;
};

namespace {

using coua::bytes;
using coua::errno_of;
using coua::kept_errno;
using coua::put_mode;
using coua::refuse;
using coua::take_params;

/// Where the table only reads: its functions take values in and out by one pointer.
std::uint8_t* bytes_in(const void* memory) { return const_cast<std::uint8_t*>(bytes(memory)); }

enum coua_flow_pages flow_pages(coua::page_kind pages) {
  switch (pages) {
    case coua::page_kind::gib1: return COUA_FLOW_PAGES_1G;
    case coua::page_kind::mib2: return COUA_FLOW_PAGES_2M;
    case coua::page_kind::transparent: return COUA_FLOW_PAGES_TRANSPARENT;
    case coua::page_kind::caller: return COUA_FLOW_PAGES_CALLER;
    case coua::page_kind::kib4:
    case coua::page_kind::automatic: break;
  }
  return COUA_FLOW_PAGES_4K;
}

void remove_reader(coua_flow_reader* reader) {
  reader->owner->table->detach(&reader->state);
  delete reader;
}

}  // namespace

extern "C" {

int coua_flow_create(const struct coua_flow_params* params, coua_flow_table** table, char* message,
                     size_t message_bytes) try {
  const kept_errno kept;
  if (params == nullptr || table == nullptr) {
    return refuse(EINVAL, "params and table must not be null", message, message_bytes);
  }
  *table = nullptr;
  coua_flow_params known = COUA_FLOW_PARAMS_INIT;
  const std::string wrong =
      take_params(*params, "coua_flow_params", offsetof(coua_flow_params, max_load), known);
  if (!wrong.empty()) return refuse(EINVAL, wrong, message, message_bytes);
  auto made = coua::flow_table::create(known);
  if (!made) {
    return refuse(errno_of(made.error().code), made.error().message(), message, message_bytes);
  }
  auto handle = std::make_unique<coua_flow_table>();
  handle->table = std::move(*made);
  *table = handle.release();
  return 0;
} catch (const std::bad_alloc&) {
  return refuse(ENOMEM, "out of memory", message, message_bytes);
} catch (...) {
  return refuse(EIO, "unexpected failure", message, message_bytes);
}

void coua_flow_destroy(coua_flow_table* table) {
  const kept_errno kept;
  if (table == nullptr) return;
  for (coua_flow_cursor* cursor : table->cursors) delete cursor;
  for (coua_flow_reader* reader : table->readers) remove_reader(reader);
  delete table;
}

int coua_flow_get_stats(const coua_flow_table* table, struct coua_flow_stats* stats) {
  if (table == nullptr || stats == nullptr || stats->size == 0) return -EINVAL;
  coua_flow_stats all{};
  table->table->get_stats(all);
  all.size = stats->size;
  const coua::simd::flow_kind kind = table->table->geometry().kind;
  all.variant = static_cast<enum coua_flow_variant>(kind.variant);
  all.sync = static_cast<enum coua_flow_sync>(kind.sync);
  all.pages = flow_pages(table->table->memory().pages());
  all.numa_node = table->table->memory().numa_node();
  std::memcpy(stats, &all, std::min(stats->size, sizeof all));
  return 0;
}

const char* coua_flow_simd(const coua_flow_table* table) { return table->table->kernels().name; }

uint64_t coua_flow_hash(const coua_flow_table* table, const void* key) {
  return table->table->hash(bytes(key));
}

void coua_flow_hash_batch(const coua_flow_table* table, const void* keys, size_t n,
                          uint64_t* hashes) {
  const std::size_t stride = table->table->geometry().key_stride;
  for (std::size_t i = 0; i < n; ++i) hashes[i] = table->table->hash(bytes(keys) + i * stride);
}

int coua_flow_reader_create(coua_flow_table* table, coua_flow_reader** reader) try {
  const kept_errno kept;
  if (table == nullptr || reader == nullptr) return -EINVAL;
  auto created = std::make_unique<coua_flow_reader>(table);
  const std::lock_guard guard(table->handles_mutex);
  // What can fail comes before anything refers to it.
  table->readers.reserve(table->readers.size() + 1);
  table->table->attach(&created->state);
  table->readers.push_back(created.get());
  *reader = created.release();
  return 0;
} catch (...) {
  return -ENOMEM;
}

void coua_flow_reader_destroy(coua_flow_reader* reader) {
  const kept_errno kept;
  if (reader == nullptr) return;
  {
    const std::lock_guard guard(reader->owner->handles_mutex);
    std::erase(reader->owner->readers, reader);
  }
  remove_reader(reader);
}

int coua_flow_lookup(coua_flow_reader* reader, const void* key, void* value) {
  return reader->kernels->batch(reader->view, reader->state, bytes(key), nullptr, 1, bytes(value),
                                nullptr) != 0;
}

size_t coua_flow_lookup_batch(coua_flow_reader* reader, const void* keys, size_t n, void* values,
                              uint64_t* hits) {
  return reader->kernels->batch(reader->view, reader->state, bytes(keys), nullptr, n, bytes(values),
                                hits);
}

size_t coua_flow_lookup_hashed(coua_flow_reader* reader, const void* keys, const uint64_t* hashes,
                               size_t n, void* values, uint64_t* hits) {
  return reader->kernels->batch(reader->view, reader->state, bytes(keys), hashes, n, bytes(values),
                                hits);
}

size_t coua_flow_lookup_ahead(coua_flow_reader* reader, const void* keys, size_t n, void* values,
                              uint64_t* hits, const void* next_keys, size_t n_next) {
  return reader->kernels->ahead(reader->view, reader->state, bytes(keys), n, bytes(values), hits,
                                bytes(next_keys), n_next);
}

long coua_flow_lookup_refresh(coua_flow_reader* reader, const void* keys, size_t n, void* values,
                              uint64_t* hits, uint32_t units) {
  if (!reader->timed || units - 1 >= COUA_FLOW_UNITS_MAX) {
    if (hits != nullptr) std::fill_n(hits, COUA_FLOW_WORDS(n), 0);
    return -EINVAL;
  }
  return static_cast<long>(reader->kernels->refresh(reader->view, reader->state, bytes(keys), n,
                                                    bytes(values), hits, units));
}

size_t coua_flow_pipeline(coua_flow_reader* reader, const void* keys, size_t n, void* values,
                          uint64_t* hits) {
  return reader->kernels->pipeline(reader->view, reader->state, bytes(keys), n, bytes(values),
                                   hits);
}

size_t coua_flow_pipeline_depth(const coua_flow_reader*) {
  return coua::simd::flow_reader_state::depth;
}

size_t coua_flow_pipeline_drain(coua_flow_reader* reader, void* values, uint64_t* hits) {
  return reader->kernels->drain(reader->view, reader->state, bytes(values), hits);
}

int coua_flow_insert(coua_flow_table* table, const void* key, const void* value, uint32_t units) {
  return table->table->put(put_mode::replace, bytes(key), bytes_in(value), units);
}

int coua_flow_add(coua_flow_table* table, const void* key, const void* value, uint32_t units) {
  return table->table->put(put_mode::keep, bytes(key), bytes_in(value), units);
}

int coua_flow_find_or_add(coua_flow_table* table, const void* key, void* value, uint32_t units) {
  return table->table->put(put_mode::find, bytes(key), bytes(value), units);
}

long coua_flow_insert_batch(coua_flow_table* table, const void* keys, const uint64_t* hashes,
                            const void* values, size_t n, uint32_t units, int8_t* results) {
  return table->table->put_batch(put_mode::replace, bytes(keys), hashes, bytes_in(values), n, units,
                                 results);
}

long coua_flow_add_batch(coua_flow_table* table, const void* keys, const uint64_t* hashes,
                         const void* values, size_t n, uint32_t units, int8_t* results) {
  return table->table->put_batch(put_mode::keep, bytes(keys), hashes, bytes_in(values), n, units,
                                 results);
}

long coua_flow_find_or_add_batch(coua_flow_table* table, const void* keys, const uint64_t* hashes,
                                 void* values, size_t n, uint32_t units, int8_t* results) {
  return table->table->put_batch(put_mode::find, bytes(keys), hashes, bytes(values), n, units,
                                 results);
}

int coua_flow_erase(coua_flow_table* table, const void* key, void* value) {
  return table->table->erase(bytes(key), bytes(value)) ? 0 : -ENOENT;
}

size_t coua_flow_erase_batch(coua_flow_table* table, const void* keys, const uint64_t* hashes,
                             size_t n) {
  return table->table->erase_batch(bytes(keys), hashes, n);
}

int coua_flow_refresh(coua_flow_table* table, const void* key, uint32_t units) {
  return table->table->refresh(bytes(key), units);
}

int coua_flow_set_time(coua_flow_table* table, uint64_t now_ms) {
  return table->table->set_time(now_ms);
}

int coua_flow_sweep(coua_flow_table* table, uint64_t n_buckets) {
  return table->table->sweep(n_buckets) ? 1 : 0;
}

long coua_flow_drain(coua_flow_table* table, void* keys, void* values, size_t max) {
  if (table == nullptr || keys == nullptr || !table->table->has_ring()) return -EINVAL;
  return static_cast<long>(table->table->drain(bytes(keys), bytes(values), max));
}

int coua_flow_cursor_open(coua_flow_table* table, coua_flow_cursor** cursor) try {
  const kept_errno kept;
  if (table == nullptr || cursor == nullptr) return -EINVAL;
  const coua::flow_geometry& geometry = table->table->geometry();
  auto moved =
      coua::moved_keys::create(geometry.n_buckets * geometry.n_slots, geometry.key_words());
  if (!moved) return -ENOMEM;
  auto opened = std::make_unique<coua_flow_cursor>(table, std::move(*moved));
  const std::lock_guard guard(table->handles_mutex);
  table->cursors.push_back(opened.get());
  *cursor = opened.release();
  return 0;
} catch (...) {
  return -ENOMEM;
}

long coua_flow_cursor_next(coua_flow_cursor* cursor, void* keys, void* values, uint32_t* units,
                           size_t max, uint64_t max_buckets) {
  if (cursor == nullptr || keys == nullptr || max < 8 || max_buckets == 0) return -EINVAL;
  if (cursor->cursor.lost()) return -EOVERFLOW;
  if (cursor->cursor.at_end()) return -ENODATA;
  return static_cast<long>(
      cursor->cursor.next(bytes(keys), bytes(values), units, max, max_buckets));
}

void coua_flow_cursor_close(coua_flow_cursor* cursor) {
  const kept_errno kept;
  if (cursor == nullptr) return;
  {
    const std::lock_guard guard(cursor->owner->handles_mutex);
    std::erase(cursor->owner->cursors, cursor);
  }
  delete cursor;
}

int coua_flow_slab_create(uint64_t n, size_t cell_bytes, coua_flow_slab** slab) try {
  const kept_errno kept;
  if (slab == nullptr) return -EINVAL;
  auto made = coua::flow_slab::create(n, cell_bytes);
  if (!made) return -errno_of(made.error().code);
  *slab = new coua_flow_slab{std::move(*made)};
  return 0;
} catch (...) {
  return -ENOMEM;
}

void coua_flow_slab_destroy(coua_flow_slab* slab) {
  const kept_errno kept;
  delete slab;
}

int coua_flow_slab_take(coua_flow_slab* slab, uint32_t* index) {
  return slab->slab.take(*index) ? 0 : -ENOSPC;
}

int coua_flow_slab_give(coua_flow_slab* slab, uint32_t index) {
  return slab->slab.give(index) ? 0 : -EINVAL;
}

void* coua_flow_slab_cell(const coua_flow_slab* slab, uint32_t index) {
  return slab->slab.cell(index);
}

uint64_t coua_flow_slab_taken(const coua_flow_slab* slab) { return slab->slab.taken(); }

}  // extern "C"
