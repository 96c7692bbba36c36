/* SPDX-License-Identifier: Apache-2.0
 *
 * The flow table: keys of 4 to 128 bytes (a 5-tuple) -> values of 0 to 64 bytes, with entries that
 * expire by themselves. For connection tracking, NAT, load balancers, firewalls. Either for one
 * thread that shares nothing, or with one writer and any number of lock-free readers.
 *
 * Conventions
 *  1. Handles are opaque; every handle has one function that creates and one that destroys it.
 *  2. Functions return 0 or a positive answer, and -errno on failure. No function sets errno,
 *     prints or throws, nor aborts on a value out of range. A pointer that must not be null
 *     is -EINVAL when it is in what creates a handle, in coua_flow_get_stats, coua_flow_drain and
 *     coua_flow_cursor_next. All other calls are made for each packet and trust their pointers:
 *     their handle, and the keys of a batch that is not empty, must not be null.
 *  3. A parameter struct starts with its own size: set it by COUA_FLOW_PARAMS_INIT, so that a
 *     program built against an older header works with a newer library.
 *  4. Thread rules: [any] any thread at any time; [writer] one thread at a time, the writer of
 *     this table, while readers run; [reader] the thread that owns that reader handle; [owner] one
 *     thread at a time, that of those who own what the table's values stand for; it may be any;
 *     [exclusive] no other call on this table at the same time. A table of COUA_FLOW_SINGLE is
 *     used by one thread at a time, whatever the call but [owner]: it may be handed over, not
 *     shared.
 *  5. Keys are `key_bytes` bytes, all of which count: clear the padding of a struct that serves as
 *     key. An array of keys has one every `key_stride` bytes, an array of values one every
 *     `value_stride`. Keys and values need no alignment; the table keeps copies of both.
 *  6. Which keys of a batch were found is told in words of 64 bits: key i was found when bit i % 64
 *     of hits[i / 64] is set. A call writes all COUA_FLOW_WORDS(n) words. The value of a key that
 *     was not found is left as it was. `values` and `hits` may be null when they are not wanted.
 *  7. Time is the caller's: milliseconds of a clock that never goes back (coua_flow_set_time), cut
 *     into units of `unit_ms`: both t and now are whole units, and what is over is left
 *     out. An entry set at time t for d units is visible while now < t + d: for more than d - 1 and
 *     at most d units of the clock.
 *  8. A hash is 64 bits, keyed with the table's secret (coua_flow_hash). A caller that has the
 *     hashes of its keys already hands them in; they must be those of this table or of one with the
 *     same `hash_key` and `key_bytes`.
 *
 * Source: Cuckoo++ (Le Scouarnec, ANCS 2018); what differs is in docs/flow-table.md.
 */
#ifndef COUA_FLOW_TABLE_H
#define COUA_FLOW_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "coua/common.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coua_flow_table coua_flow_table;
typedef struct coua_flow_reader coua_flow_reader;
typedef struct coua_flow_cursor coua_flow_cursor;
typedef struct coua_flow_slab coua_flow_slab;

#define COUA_FLOW_KEY_BYTES_MIN 4
#define COUA_FLOW_KEY_BYTES_MAX 128
#define COUA_FLOW_VALUE_BYTES_MAX 64
#define COUA_FLOW_UNITS_MAX 1024
#define COUA_FLOW_PATH_MAX 8 /* moves that one insert may make */
#define COUA_FLOW_WORDS(n) (((n) + 63) / 64)

/* How a look-up knows whether to look into a key's second bucket. */
enum coua_flow_variant COUA_ANY_INT {
  COUA_FLOW_BLOOM = 0,   /* Cuckoo++: a Bloom filter in the first bucket says so */
  COUA_FLOW_OPTIMISTIC,  /* whenever the key is not in the first; fetched only then */
  COUA_FLOW_PESSIMISTIC, /* the same, and both buckets are fetched at once */
  COUA_FLOW_HORTON       /* a remap array in the first bucket says which of seven it is */
};

enum coua_flow_sync COUA_ANY_INT {
  COUA_FLOW_SINGLE = 0, /* one thread at a time */
  COUA_FLOW_ONE_WRITER  /* one writer and any number of readers at the same time */
};

enum coua_flow_timers COUA_ANY_INT {
  COUA_FLOW_TIMERS_DEFAULT = 0, /* on with one writer, off in a table of one thread */
  COUA_FLOW_TIMERS_ON,          /* entries expire */
  COUA_FLOW_TIMERS_OFF          /* they stay until erased; units are 0 */
};

enum coua_flow_pages COUA_ANY_INT {
  COUA_FLOW_PAGES_AUTO = 0,
  COUA_FLOW_PAGES_1G,
  COUA_FLOW_PAGES_2M,
  COUA_FLOW_PAGES_TRANSPARENT,
  COUA_FLOW_PAGES_4K,
  COUA_FLOW_PAGES_CALLER /* reported when the caller's allocator was used */
};

/* Told of every entry that expired, by the writer call that found it so: a NAT frees its port here.
 * `key` and `value` hold for the time of the call. It must not call functions of this table. For an
 * owner on another thread, see coua_flow_drain. */
typedef void (*coua_flow_expired)(void* context, const void* key, const void* value);

struct coua_flow_params {
  size_t size;           /* sizeof(struct coua_flow_params) */
  uint64_t entries;      /* entries that must fit at `max_load`, 1 to 2^32 * bucket_slots *
                            max_load: 32,641,751,449 where these two are 0 */
  double max_load;       /* share of the slots that `entries` may fill; 0.05 to 0.99; 0: 0.95 */
  uint64_t buckets;      /* exact bucket count instead of the two above, 1 to 2^32; 0: computed */
  uint32_t key_bytes;    /* 4 to 128; 13 or 16, 37 or 40 are the fastest */
  uint32_t value_bytes;  /* 0 to 64 */
  uint32_t key_stride;   /* from key to key of an array; at least key_bytes; 0: key_bytes */
  uint32_t value_stride; /* from value to value; at least value_bytes; 0: value_bytes */
  enum coua_flow_variant variant;
  enum coua_flow_sync sync;
  uint32_t timers;       /* an enum coua_flow_timers. On and off take the same memory */
  uint32_t unit_ms;      /* unit of expiry times; 1 to 86,400,000; 0: 30,000 */
  uint64_t now_ms;       /* the time at creation */
  uint32_t bucket_slots; /* 1, 2, 4 or 8 slots of each bucket are used, of any variant; 0: 8. Fewer
                            save no memory: they are for experiments */
  enum coua_flow_pages pages;
  int32_t numa_node;         /* a node that the system has; -1: not bound */
  uint32_t populate_threads; /* that touch the memory at creation; 0: as many as the process has
                                processors. Never more than 16: a larger number counts as 16 */
  uint32_t search_budget;  /* buckets that one search for room may look at, at most 2^20; fewer than
                              16 count as 16; 0: 2,048. An insert searches once; with Horton, where
                              a move may close the way, up to eight times */
  const uint8_t* hash_key; /* 32 bytes; null: drawn from the kernel. Who knows the key can fill a
                              bucket pair: give one only to tables that must share hashes */
  coua_flow_expired expired; /* may be null; with timers */
  void* expired_context;
  void* (*allocate)(void* context, size_t bytes, size_t alignment); /* zeroed memory, or null */
  void (*release)(void* context, void* memory, size_t bytes);
  void* context;
  uint64_t expired_ring;  /* entries that the ring of coua_flow_drain has room for, at least; up to
                             2^24; 0: no ring. Instead of `expired`; with timers */
  uint32_t filter_rounds; /* rounds of the sweep in which each filter is made anew once, 1 to 64; 0:
                             20. Fewer keep false positives low while entries come and go; that
                             takes 9 / filter_rounds bytes a bucket. With filters */
};

#define COUA_FLOW_PARAMS_INIT                                                                    \
  {                                                                                              \
    sizeof(struct coua_flow_params), 0, 0, 0, 16, 8, 0, 0, COUA_FLOW_BLOOM, COUA_FLOW_SINGLE, 0, \
        0, 0, 0, COUA_FLOW_PAGES_AUTO, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                          \
  }

/* What an insert did. */
enum coua_flow_insert_result {
  COUA_FLOW_ADDED = 1,   /* a new entry */
  COUA_FLOW_UPDATED = 2, /* the key was there: value and expiry time were replaced */
  COUA_FLOW_FULL = 3,    /* no room within the search budget; the table is unchanged; counted */
  COUA_FLOW_PRESENT = 4  /* the key was there, and its value stays */
};

/* Creation and description. ------------------------------------------------------------------- */

/* Creates a table. `message`, when not null, receives up to `message_bytes` of text that says what
 * is wrong. Errors: -EINVAL (a parameter out of range), -ENOMEM, -ENOENT (no such NUMA node),
 * -EPERM (memory may not be bound to it), -ENOTSUP (the kernel lacks these pages), -EIO (another
 * failure of the system). [any] */
COUA_API int coua_flow_create(const struct coua_flow_params* params, coua_flow_table** table,
                              char* message, size_t message_bytes);

/* Destroys the table, its readers and its cursors. Null is allowed. [exclusive] */
COUA_API void coua_flow_destroy(coua_flow_table* table);

struct coua_flow_stats {
  size_t size;      /* sizeof(struct coua_flow_stats), set by the caller */
  uint64_t entries; /* now in the table; includes those that expired and were not yet swept */
  uint64_t slots;   /* it has; entries / slots is the load */
  uint64_t buckets;
  uint64_t in_secondary;                             /* entries in a secondary bucket */
  uint64_t bytes;                                    /* of memory taken */
  uint64_t added, updated, erased, expired, refused; /* since creation */
  uint64_t moves;                                    /* entries moved by inserts, to make room */
  uint64_t sent_home;                                /* entries moved by the sweep, to their
                                                        primary bucket */
  uint64_t path_length[COUA_FLOW_PATH_MAX + 1];      /* inserts by the number of their moves */
  uint64_t filters_rebuilt;                          /* Bloom filters or remap arrays, by sweeps */
  uint64_t full_scans;   /* sweeps of the whole table that set_time had to make at once */
  uint64_t retries;      /* look-ups that readers repeated because of a change meanwhile: a key is
                            repeated, in turns with others, until nothing changed under it. Their
                            number for one key has no bound but the writer's pace */
  uint64_t second_looks; /* keys for which readers looked into a secondary bucket */
  uint64_t now_ms;
  uint32_t key_bytes, value_bytes;
  enum coua_flow_variant variant;
  enum coua_flow_sync sync;
  uint32_t timers; /* 1: entries expire */
  uint32_t unit_ms;
  enum coua_flow_pages pages; /* what the memory is on */
  int32_t numa_node;
  uint64_t expired_waiting; /* entries in the ring of coua_flow_drain */
};

/* Fills `stats`. -EINVAL when `stats->size` is 0, or a pointer null. [any]; counts that others
 * change at the same time may be off by the calls in progress. */
COUA_API int coua_flow_get_stats(const coua_flow_table* table, struct coua_flow_stats* stats);

/* How look-ups compare tags: "generic", "avx2" or (with Bloom filters) "avx512". COUA_SIMD=generic
 * or avx2 lowers it. [any] */
COUA_API const char* coua_flow_simd(const coua_flow_table* table);

/* The hash of one key, and of `n`. [any] */
COUA_API uint64_t coua_flow_hash(const coua_flow_table* table, const void* key);
COUA_API void coua_flow_hash_batch(const coua_flow_table* table, const void* keys, size_t n,
                                   uint64_t* hashes);

/* Look-up. ------------------------------------------------------------------------------------ */

/* A reader keeps what one looking-up thread needs: its counters and its keys in flight.
 * -EINVAL, -ENOMEM. [any]; destroying it is [reader]; null is allowed there. */
COUA_API int coua_flow_reader_create(coua_flow_table* table, coua_flow_reader** reader);
COUA_API void coua_flow_reader_destroy(coua_flow_reader* reader);

/* One key: 1 when it is there (its value is copied to `value`, unless null), else 0. Prefer
 * batches: one key at a time waits for memory three times. [reader] */
COUA_API int coua_flow_lookup(coua_flow_reader* reader, const void* key, void* value);

/* `n` keys, any number; returns how many were found. [reader] */
COUA_API size_t coua_flow_lookup_batch(coua_flow_reader* reader, const void* keys, size_t n,
                                       void* values, uint64_t* hits);

/* The same with ready hashes, one for each key. [reader] */
COUA_API size_t coua_flow_lookup_hashed(coua_flow_reader* reader, const void* keys,
                                        const uint64_t* hashes, size_t n, void* values,
                                        uint64_t* hits);

/* The same as coua_flow_lookup_batch, while the memory of the next batch is fetched: `next_keys`
 * should be the `keys` of the following call (any other is correct, but slower); `n_next` may be 0.
 * [reader] */
COUA_API size_t coua_flow_lookup_ahead(coua_flow_reader* reader, const void* keys, size_t n,
                                       void* values, uint64_t* hits, const void* next_keys,
                                       size_t n_next);

/* The same as coua_flow_lookup_batch, and entries that are found get a new expiry time, `units`
 * from now, by a compare-exchange of the word that was read: a concurrent change by the writer
 * wins, and an erased or expired entry never comes back. The exchange is tried only when the time
 * changes by at least 1 / 16 of `units` (at least one unit), so that busy flows do not store each
 * time. Returns how many were found; -EINVAL, and no hits, when `units` is out of range (1 to
 * 1,024) or the table has no timers. [reader] */
COUA_API long coua_flow_lookup_refresh(coua_flow_reader* reader, const void* keys, size_t n,
                                       void* values, uint64_t* hits, uint32_t units);

/* Asynchronous look-up: submits `n` keys (copies: the array is free after the call), and gives the
 * answers for up to `n` keys that were submitted before, in the order of submission; returns how
 * many. `hits` has COUA_FLOW_WORDS(n) words. At most coua_flow_pipeline_depth() keys are in flight.
 * [reader] */
COUA_API size_t coua_flow_pipeline(coua_flow_reader* reader, const void* keys, size_t n,
                                   void* values, uint64_t* hits);
/* Keys that may be in flight. [any] */
COUA_API size_t coua_flow_pipeline_depth(const coua_flow_reader* reader);
/* Gives the answers for all keys in flight (room for the depth is needed); returns how many.
 * [reader] */
COUA_API size_t coua_flow_pipeline_drain(coua_flow_reader* reader, void* values, uint64_t* hits);

/* Writing. ------------------------------------------------------------------------------------
 *
 * `units` is the life of the entry, 1 to 1,024 units from now, in a table with timers, and 0 in one
 * without; anything else is -EINVAL, and nothing is changed. Where `value` or `values` is null, the
 * value that is stored is all zeros, and none is copied out. All are bounded work without
 * allocation. In a concurrent table, an update of a value wider than 8 bytes takes a free slot for
 * the new value before it gives up the old one's: it can be refused as FULL, and the old value then
 * stays. */

/* Inserts or replaces one entry; returns an enum coua_flow_insert_result, or -EINVAL. [writer] */
COUA_API int coua_flow_insert(coua_flow_table* table, const void* key, const void* value,
                              uint32_t units);

/* Inserts one entry unless its key is there: ADDED, PRESENT (nothing is changed), FULL, -EINVAL.
 * [writer] */
COUA_API int coua_flow_add(coua_flow_table* table, const void* key, const void* value,
                           uint32_t units);

/* Look-up or insert in one pass: PRESENT (the value found is copied to `value`, and the entry gets
 * a new expiry time of `units` from now), ADDED (with the value in `value`), FULL, -EINVAL.
 * [writer] */
COUA_API int coua_flow_find_or_add(coua_flow_table* table, const void* key, void* value,
                                   uint32_t units);

/* The three for `n` keys, with their buckets prefetched. `hashes` may be null; `results`, when not
 * null, receives what the single call would return for each. Return the number that are in the
 * table now (ADDED, UPDATED or PRESENT), or -EINVAL. [writer] */
COUA_API long coua_flow_insert_batch(coua_flow_table* table, const void* keys,
                                     const uint64_t* hashes, const void* values, size_t n,
                                     uint32_t units, int8_t* results);
COUA_API long coua_flow_add_batch(coua_flow_table* table, const void* keys, const uint64_t* hashes,
                                  const void* values, size_t n, uint32_t units, int8_t* results);
COUA_API long coua_flow_find_or_add_batch(coua_flow_table* table, const void* keys,
                                          const uint64_t* hashes, void* values, size_t n,
                                          uint32_t units, int8_t* results);

/* Removes one entry: 0, -ENOENT. `value`, when not null, receives the value that it had; `expired`
 * is not told. [writer] */
COUA_API int coua_flow_erase(coua_flow_table* table, const void* key, void* value);

/* `n` keys, with prefetch; `hashes` may be null. Returns the number removed. [writer] */
COUA_API size_t coua_flow_erase_batch(coua_flow_table* table, const void* keys,
                                      const uint64_t* hashes, size_t n);

/* Gives one entry a new expiry time, `units` from now: 0, -ENOENT, -EINVAL. [writer] */
COUA_API int coua_flow_refresh(coua_flow_table* table, const void* key, uint32_t units);

/* Time. ----------------------------------------------------------------------------------------
 */

/* Says what time it is. Entries whose time has come are invisible when the call returns. It also
 * does a bounded share of the sweep, as each insert and erase does. Times of 16 bits must stay
 * apart: when a round of the sweep began more than 32,000 units ago (with a ring 16,000, for want
 * of calls in between), or entries that expired have waited as long as 32,000 units for room in the
 * ring, it first looks at the whole table. 0; -EINVAL when the time goes back; -EAGAIN when that
 * look finds the ring full: drain it and call again. Until then the time stays, and some of the
 * entries that would have expired are gone already. [writer] */
COUA_API int coua_flow_set_time(coua_flow_table* table, uint64_t now_ms);

/* Looks at up to `n_buckets` further buckets at once: removes what expired, moves entries to their
 * primary bucket where there is room, renews filters. Returns 1 when it came to the end of the
 * table (the next call starts anew), else 0. For idle times, or to be told of expired entries
 * sooner. [writer] */
COUA_API int coua_flow_sweep(coua_flow_table* table, uint64_t n_buckets);

/* Takes up to `max` entries that expired from the table's ring, the oldest first: keys, and values
 * unless null. Returns how many; -EINVAL when the table has no ring, or `keys` is null. [owner]
 *
 * The ring loses nothing. While it is full, entries that expire stay in their slots, invisible:
 * inserts of their keys are refused as FULL, and so are others when such entries take up all room.
 * Drain it at least as often as entries expire, and make it as large as what expires meanwhile. */
COUA_API long coua_flow_drain(coua_flow_table* table, void* keys, void* values, size_t max);

/* Iteration. -----------------------------------------------------------------------------------
 */

/* A cursor returns every entry that stays in the table from opening to end exactly once, also when
 * entries are inserted, erased and moved between the calls. It remembers those that were moved
 * across it, as many as the table has slots, at least 65,536 and at most 1,048,576. When more moved
 * since it last came by, it is lost: all calls answer -EOVERFLOW, and a new one must begin again.
 * -EINVAL, -ENOMEM. [writer] */
COUA_API int coua_flow_cursor_open(coua_flow_table* table, coua_flow_cursor** cursor);
/* Writes up to `max` (at least 8) keys, values, and units left (0 without timers); `values` and
 * `units` may be null. Looks at no more than `max_buckets` (at least 1) buckets, so that one call
 * takes bounded time. Returns how many entries, which may be 0 before the end; -ENODATA: the end;
 * -EINVAL; -EOVERFLOW. [writer] */
COUA_API long coua_flow_cursor_next(coua_flow_cursor* cursor, void* keys, void* values,
                                    uint32_t* units, size_t max, uint64_t max_buckets);
/* Closes it; null is allowed. [writer] */
COUA_API void coua_flow_cursor_close(coua_flow_cursor* cursor);

/* Slab. ----------------------------------------------------------------------------------------
 *
 * Entries of a table move, and readers get copies of values. State that changes with each packet
 * (counters, TCP state) therefore lives in a slab, at an address that stays, and the table's value
 * is its 4-byte index. */

/* `n` (1 to 2^32 - 3) cells of `cell_bytes` (1 to 2^20), zeroed, each aligned to the largest power
 * of two that divides cell_bytes, up to 64; at most 2^46 bytes together. -EINVAL, -ENOMEM, -EIO.
 * [any] */
COUA_API int coua_flow_slab_create(uint64_t n, size_t cell_bytes, coua_flow_slab** slab);
COUA_API void coua_flow_slab_destroy(coua_flow_slab* slab); /* null is allowed; [exclusive] */
/* Takes a cell: 0 and its index in `index`, or -ENOSPC. Its bytes are as they were left. [writer]
 */
COUA_API int coua_flow_slab_take(coua_flow_slab* slab, uint32_t* index);
/* Gives a cell back: 0, or -EINVAL when it is not taken. With readers that may still use the cell,
 * give it back only after they are past their batch. [writer] */
COUA_API int coua_flow_slab_give(coua_flow_slab* slab, uint32_t index);
/* The address of a cell below `n`; it never changes. [any] */
COUA_API void* coua_flow_slab_cell(const coua_flow_slab* slab, uint32_t index);
COUA_API uint64_t coua_flow_slab_taken(const coua_flow_slab* slab); /* [writer] */

#ifdef __cplusplus
}
#endif
#endif
