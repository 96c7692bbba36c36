// SPDX-License-Identifier: Apache-2.0
//
// The C API of the FIB: checks arguments, turns errors into numbers, and keeps exceptions inside.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "coua/fib.h"
#include "lib/errors.h"
#include "lib/kept_errno.h"
#include "lib/params.h"
#include "table/fib.h"
#include "table/fib_cursor.h"

struct coua_fib {
  std::unique_ptr<coua::fib> table;
  std::mutex handles_mutex;
  std::vector<coua_fib_reader*> readers;
  std::vector<coua_fib_cursor*> cursors;
};

struct coua_fib_reader {
  coua_fib* owner;
  // Copies: a reader touches nothing of the handle that the writer may write.
  coua::simd::fib_view view;
  const coua::simd::fib_kernels* kernels;
  coua::simd::fib_reader_state state;
};

struct coua_fib_cursor {
  coua_fib* owner;
  coua::fib_cursor cursor;
  coua_fib_cursor(coua_fib* fib, coua::moved_keys moved)
      : owner(fib), cursor(*fib->table, std::move(moved)) {}
};

namespace {

using coua::errno_of;
using coua::kept_errno;
using coua::refuse;
using coua::take_params;

enum coua_fib_layout to_c(coua::simd::fib_layout layout) {
  switch (layout) {
    case coua::simd::fib_layout::packed4: return COUA_FIB_LAYOUT_PACKED4;
    case coua::simd::fib_layout::wide8: return COUA_FIB_LAYOUT_WIDE8;
    case coua::simd::fib_layout::packed8: break;
  }
  return COUA_FIB_LAYOUT_PACKED8;
}

enum coua_fib_pages to_c(coua::page_kind pages) {
  switch (pages) {
    case coua::page_kind::gib1: return COUA_FIB_PAGES_1G;
    case coua::page_kind::mib2: return COUA_FIB_PAGES_2M;
    case coua::page_kind::transparent: return COUA_FIB_PAGES_TRANSPARENT;
    case coua::page_kind::caller: return COUA_FIB_PAGES_CALLER;
    case coua::page_kind::kib4:
    case coua::page_kind::automatic: break;
  }
  return COUA_FIB_PAGES_4K;
}

void remove_reader(coua_fib_reader* reader) {
  reader->owner->table->detach(&reader->state);
  delete reader;
}

}  // namespace

extern "C" {

int coua_fib_create(const struct coua_fib_params* params, coua_fib** fib, char* message,
                    size_t message_bytes) try {
  const kept_errno kept;
  if (params == nullptr || fib == nullptr) {
    return refuse(EINVAL, "params and fib must not be null", message, message_bytes);
  }
  *fib = nullptr;
  coua_fib_params known = COUA_FIB_PARAMS_INIT;
  const std::string wrong =
      take_params(*params, "coua_fib_params", offsetof(coua_fib_params, max_load), known);
  if (!wrong.empty()) return refuse(EINVAL, wrong, message, message_bytes);
  auto table = coua::fib::create(known);
  if (!table) {
    return refuse(errno_of(table.error().code), table.error().message(), message, message_bytes);
  }
  auto handle = std::make_unique<coua_fib>();
  handle->table = std::move(*table);
  *fib = handle.release();
  return 0;
} catch (const std::bad_alloc&) {
  return refuse(ENOMEM, "out of memory", message, message_bytes);
} catch (...) {
  return refuse(EIO, "unexpected failure", message, message_bytes);
}

void coua_fib_destroy(coua_fib* fib) {
  const kept_errno kept;
  if (fib == nullptr) return;
  for (coua_fib_cursor* cursor : fib->cursors) delete cursor;
  for (coua_fib_reader* reader : fib->readers) remove_reader(reader);
  delete fib;
}

int coua_fib_get_stats(const coua_fib* fib, struct coua_fib_stats* stats) {
  if (fib == nullptr || stats == nullptr || stats->size == 0) return -EINVAL;
  coua_fib_stats all{};
  fib->table->get_stats(all);
  all.size = stats->size;
  all.layout = to_c(fib->table->geometry().layout);
  all.pages = to_c(fib->table->memory().pages());
  all.numa_node = fib->table->memory().numa_node();
  std::memcpy(stats, &all, std::min(stats->size, sizeof all));
  return 0;
}

const char* coua_fib_simd(const coua_fib* fib) {
  return coua::to_string(fib->table->kernels().instruction_set);
}

uint64_t coua_fib_key(uint16_t bridge_domain, const uint8_t mac[6]) {
  uint64_t key = bridge_domain & 0xfffu;
  for (int i = 0; i < 6; ++i) key = key << 8 | mac[i];
  return key;
}

int coua_fib_reader_create(coua_fib* fib, coua_fib_reader** reader) try {
  const kept_errno kept;
  if (fib == nullptr || reader == nullptr) return -EINVAL;
  auto created = std::make_unique<coua_fib_reader>();
  created->owner = fib;
  created->view = fib->table->view();
  created->kernels = &fib->table->kernels();
  const std::lock_guard guard(fib->handles_mutex);
  // What can fail comes before anything refers to it.
  fib->readers.reserve(fib->readers.size() + 1);
  fib->table->attach(&created->state);
  fib->readers.push_back(created.get());
  *reader = created.release();
  return 0;
} catch (...) {
  return -ENOMEM;
}

void coua_fib_reader_destroy(coua_fib_reader* reader) {
  const kept_errno kept;
  if (reader == nullptr) return;
  {
    const std::lock_guard guard(reader->owner->handles_mutex);
    std::erase(reader->owner->readers, reader);
  }
  remove_reader(reader);
}

uint32_t coua_fib_lookup(coua_fib_reader* reader, uint64_t key) {
  uint32_t entry;
  reader->kernels->batch(reader->view, reader->state, &key, 1, &entry);
  return entry;
}

size_t coua_fib_lookup_batch(coua_fib_reader* reader, const uint64_t* keys, size_t n,
                             uint32_t* entries) {
  return reader->kernels->batch(reader->view, reader->state, keys, n, entries);
}

size_t coua_fib_lookup_ahead(coua_fib_reader* reader, const uint64_t* keys, size_t n,
                             uint32_t* entries, const uint64_t* next_keys, size_t n_next) {
  return reader->kernels->ahead(reader->view, reader->state, keys, n, entries, next_keys, n_next);
}

size_t coua_fib_pipeline(coua_fib_reader* reader, const uint64_t* keys, size_t n,
                         uint32_t* entries) {
  return reader->kernels->pipeline(reader->view, reader->state, keys, n, entries);
}

size_t coua_fib_pipeline_depth(const coua_fib_reader*) { return coua::simd::fib_pipeline::depth; }

size_t coua_fib_pipeline_drain(coua_fib_reader* reader, uint32_t* entries) {
  return reader->kernels->drain(reader->view, reader->state, entries);
}

size_t coua_fib_lookup_refresh(coua_fib_reader* reader, const uint64_t* keys, size_t n,
                               uint32_t* entries) {
  return reader->kernels->refresh(reader->view, reader->state, keys, n, entries);
}

int coua_fib_insert(coua_fib* fib, const struct coua_fib_record* record) {
  return fib->table->insert(*record);
}

size_t coua_fib_insert_batch(coua_fib* fib, const struct coua_fib_record* records, size_t n,
                             int8_t* results) {
  return fib->table->insert_batch({records, n}, results);
}

int coua_fib_erase(coua_fib* fib, uint64_t key) {
  if (!coua::fib::valid_key(key)) return -EINVAL;
  return fib->table->erase(key) ? 0 : -ENOENT;
}

size_t coua_fib_erase_batch(coua_fib* fib, const uint64_t* keys, size_t n) {
  return fib->table->erase_batch({keys, n});
}

int coua_fib_refresh(coua_fib* fib, uint64_t key) {
  if (!coua::fib::valid_key(key)) return -EINVAL;
  return fib->table->refresh(key) ? 0 : -ENOENT;
}

int coua_fib_bulk_load(coua_fib* fib, coua_fib_bulk_source next, void* context, unsigned threads,
                       int distinct) try {
  const kept_errno kept;
  if (fib == nullptr || next == nullptr || threads > COUA_FIB_LOAD_THREADS_MAX) return -EINVAL;
  return fib->table->bulk_load(next, context, threads, distinct != 0);
} catch (const std::bad_alloc&) {
  return -ENOMEM;
} catch (...) {
  return -EAGAIN;  // no thread could be started
}

int coua_fib_sweep(coua_fib* fib, uint64_t n_buckets, coua_fib_expired expired, void* context) {
  return fib->table->sweep(n_buckets, expired, context) ? 1 : 0;
}

int coua_fib_tidy(coua_fib* fib, uint64_t n_buckets) { return fib->table->tidy(n_buckets) ? 1 : 0; }

int coua_fib_next_epoch(coua_fib* fib) { return fib->table->next_epoch() ? 0 : -EAGAIN; }

int coua_fib_cursor_open(coua_fib* fib, coua_fib_cursor** cursor) try {
  const kept_errno kept;
  if (fib == nullptr || cursor == nullptr) return -EINVAL;
  const coua::fib& table = *fib->table;
  auto moved = coua::moved_keys::create(table.geometry().n_buckets * table.geometry().n_slots());
  if (!moved) return -ENOMEM;
  auto opened = std::make_unique<coua_fib_cursor>(fib, std::move(*moved));
  const std::lock_guard guard(fib->handles_mutex);
  fib->cursors.push_back(opened.get());
  *cursor = opened.release();
  return 0;
} catch (...) {
  return -ENOMEM;
}

long coua_fib_cursor_next(coua_fib_cursor* cursor, struct coua_fib_record* records,
                          size_t max) try {
  const kept_errno kept;
  if (cursor == nullptr || records == nullptr || max < 8) return -EINVAL;
  if (cursor->cursor.lost()) return -EOVERFLOW;
  std::size_t n = 0;
  while (n == 0 && !cursor->cursor.at_end()) n = cursor->cursor.next({records, max});
  return static_cast<long>(n);
} catch (...) {
  return -ENOMEM;
}

long coua_fib_cursor_step(coua_fib_cursor* cursor, struct coua_fib_record* records, size_t max,
                          uint64_t max_buckets) try {
  const kept_errno kept;
  if (cursor == nullptr || records == nullptr || max < 8 || max_buckets == 0) return -EINVAL;
  if (cursor->cursor.lost()) return -EOVERFLOW;
  if (cursor->cursor.at_end()) return -ENODATA;
  return static_cast<long>(cursor->cursor.next({records, max}, max_buckets));
} catch (...) {
  return -ENOMEM;
}

void coua_fib_cursor_close(coua_fib_cursor* cursor) {
  const kept_errno kept;
  if (cursor == nullptr) return;
  {
    const std::lock_guard guard(cursor->owner->handles_mutex);
    std::erase(cursor->owner->cursors, cursor);
  }
  delete cursor;
}

}  // extern "C"
