/* SPDX-License-Identifier: Apache-2.0
 *
 * The forwarding table (FIB) of an Ethernet switch: (bridge domain, MAC) -> port, from a thousand
 * to billions of entries, 8 bytes each, with one writer and any number of lock-free readers.
 *
 * Conventions
 *  1. Handles are opaque; every handle has one function that creates and one that destroys it.
 *  2. Functions return 0 or a positive answer, and -errno on failure. No function sets errno,
 *     prints or throws, nor aborts on a value out of range. A pointer that must not be null
 *     is -EINVAL when it is in what creates a handle, in coua_fib_get_stats, coua_fib_bulk_load,
 *     coua_fib_cursor_next and coua_fib_cursor_step. All other calls are made for each packet and
 *     trust their pointers: their handle, and the keys or records of a batch that is not empty,
 *     must not be null.
 *  3. A parameter struct starts with its own size: set it by COUA_FIB_PARAMS_INIT, so that a
 *     program built against an older header works with a newer library.
 *  4. Thread rules: [any] any thread at any time; [writer] one thread at a time, the writer of
 *     this table, while readers run; [reader] the thread that owns that reader handle; [exclusive]
 *     no other call on this table at the same time.
 *  5. A key is one word: the 12-bit bridge domain in bits 48-59, the MAC in bits 0-47 with its
 *     first byte on the wire in bits 40-47. Bits 60-63 are zero: writer functions refuse others
 * with -EINVAL, look-ups ignore them.
 *  6. A look-up answers one 32-bit word per key, an entry: bits 0-2 the age stamp, bit 3 set for a
 *     static entry, bits 4-27 the value (the port). COUA_FIB_MISS stands for "not there".
 *
 * Source: CuckooSwitch (Zhou et al., CoNEXT 2013), sections 3.2 to 3.5; what differs is in
 * docs/fib.md.
 */
#ifndef COUA_FIB_H
#define COUA_FIB_H

#include <stddef.h>
#include <stdint.h>

#include "coua/common.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coua_fib coua_fib;
typedef struct coua_fib_reader coua_fib_reader;
typedef struct coua_fib_cursor coua_fib_cursor;

#define COUA_FIB_MISS UINT32_MAX
#define COUA_FIB_ENTRY_AGE_MASK 0x7u
#define COUA_FIB_ENTRY_STATIC 0x8u
#define COUA_FIB_ENTRY_VALUE_SHIFT 4
#define COUA_FIB_KEY_BITS 60
#define COUA_FIB_VALUE_BITS_MAX 24
#define COUA_FIB_PATH_MAX 8           /* moves that one insert may make */
#define COUA_FIB_LOAD_THREADS_MAX 256 /* threads of one bulk load */

/* How a table stores its entries. */
enum coua_fib_layout COUA_ANY_INT {
  COUA_FIB_LAYOUT_AUTO = 0, /* packed8 where the table is large enough for it, else wide8 */
  COUA_FIB_LAYOUT_PACKED8,  /* 8 slots of 8 bytes to a 64-byte bucket */
  COUA_FIB_LAYOUT_PACKED4,  /* 4 slots of 8 bytes: the (2,4) table of the paper */
  COUA_FIB_LAYOUT_WIDE8     /* 8 slots of 16 bytes: any number of buckets */
};

enum coua_fib_pages COUA_ANY_INT {
  COUA_FIB_PAGES_AUTO = 0,
  COUA_FIB_PAGES_1G,
  COUA_FIB_PAGES_2M,
  COUA_FIB_PAGES_TRANSPARENT,
  COUA_FIB_PAGES_4K,
  COUA_FIB_PAGES_CALLER /* reported when the caller's allocator was used */
};

struct coua_fib_params {
  size_t size;         /* sizeof(struct coua_fib_params) */
  uint64_t entries;    /* entries that must fit at `max_load`; 1 to 2^40 */
  double max_load;     /* share of the slots that `entries` may fill; 0.05 to 0.99; 0: 0.95 */
  uint64_t buckets;    /* bucket count instead of the two above, 1 to 2^38; 0: computed. Exact, but
                          that packed layouts take no fewer than they need (docs/limits.md) */
  uint32_t value_bits; /* width of a value; 1 to 24; 0: 16. Fewer bits let a smaller table pack */
  enum coua_fib_layout layout;
  enum coua_fib_pages pages;
  int32_t numa_node;         /* a node that the system has; -1: not bound */
  uint32_t populate_threads; /* that touch the memory at creation; 0: as many as the process has
                                processors. Never more than 16: a larger number counts as 16 */
  uint32_t search_budget;    /* buckets that one insert may look at, at most 2^20; fewer than 16
                                count as 16; 0: 2,048 */
  const uint8_t* hash_key;   /* 32 bytes; null: drawn from the kernel. Fixed keys are for tests:
                                who knows the key can fill a bucket pair */
  void* (*allocate)(void* context, size_t bytes, size_t alignment); /* zeroed memory, or null */
  void (*release)(void* context, void* memory, size_t bytes);
  void* context;
};

#define COUA_FIB_PARAMS_INIT                                                                      \
  {                                                                                               \
    sizeof(struct coua_fib_params), 0, 0, 0, 0, COUA_FIB_LAYOUT_AUTO, COUA_FIB_PAGES_AUTO, -1, 0, \
        0, 0, 0, 0, 0                                                                             \
  }

/* One entry with its key, as the writer gives it and a cursor returns it. */
struct coua_fib_record {
  uint64_t key;
  uint32_t value;
  uint8_t is_static; /* 0 or 1 */
  uint8_t age;       /* epochs since the entry was last refreshed, 0 to 6; ignored on insert */
  uint16_t reserved; /* 0; anything else is refused */
};

/* What an insert did. */
enum coua_fib_insert_result {
  COUA_FIB_ADDED = 1,   /* a new entry */
  COUA_FIB_UPDATED = 2, /* the key was there: value, flag and age were replaced */
  COUA_FIB_FULL = 3     /* no room within the search budget; the table is unchanged; counted */
};

/* Creation and description. ------------------------------------------------------------------- */

/* Creates a table. `message`, when not null, receives up to `message_bytes` of text that says what
 * is wrong. Errors: -EINVAL (a parameter out of range), -ENOMEM, -ENOENT (no such NUMA node),
 * -EPERM (memory may not be bound to it), -ENOTSUP (the kernel lacks these pages), -EIO (another
 * failure of the system). [any] */
COUA_API int coua_fib_create(const struct coua_fib_params* params, coua_fib** fib, char* message,
                             size_t message_bytes);

/* Destroys the table, its readers and its cursors. Null is allowed. [exclusive] */
COUA_API void coua_fib_destroy(coua_fib* fib);

struct coua_fib_stats {
  size_t size;      /* sizeof(struct coua_fib_stats), set by the caller */
  uint64_t entries; /* now in the table */
  uint64_t slots;   /* it has; entries / slots is the load */
  uint64_t buckets;
  uint64_t buckets_asked; /* that the parameters asked for; `buckets` may be more */
  uint64_t in_secondary;  /* entries in their secondary bucket */
  uint64_t statics;       /* static entries */
  uint64_t bytes;         /* of memory taken, versions included */
  uint64_t added, updated, erased, aged_out, refused; /* since creation */
  uint64_t moves;                                     /* entries moved by inserts, to make room */
  uint64_t sent_home; /* entries moved by sweeps, from their secondary bucket to their primary */
  uint64_t path_length[COUA_FIB_PATH_MAX + 1]; /* inserts by the number of moves they made */
  uint64_t retries; /* misses that readers looked up again because an entry moved meanwhile */
  enum coua_fib_layout layout;
  enum coua_fib_pages pages; /* what the memory is on */
  int32_t numa_node;
  uint32_t value_bits;
  uint32_t epoch; /* 0 to 7: the age stamp that a fresh entry gets now */
};

/* Fills `stats`. -EINVAL when `stats->size` is 0. [any]; counts that the writer changes at the same
 * time may be off by the calls in progress. */
COUA_API int coua_fib_get_stats(const coua_fib* fib, struct coua_fib_stats* stats);

/* Instruction set that look-ups use: "generic", "avx2" or "avx512". The environment variable
 * COUA_SIMD with one of these words lowers it; anything else in it is ignored. [any] */
COUA_API const char* coua_fib_simd(const coua_fib* fib);

/* The key of a bridge domain (0 to 4095) and six bytes as on the wire. [any] */
COUA_API uint64_t coua_fib_key(uint16_t bridge_domain, const uint8_t mac[6]);

/* Look-up. ------------------------------------------------------------------------------------ */

/* A reader keeps what one looking-up thread needs: its retry counter and its pipeline.
 * -EINVAL, -ENOMEM. [any]; destroying it is [reader]; null is allowed there. */
COUA_API int coua_fib_reader_create(coua_fib* fib, coua_fib_reader** reader);
COUA_API void coua_fib_reader_destroy(coua_fib_reader* reader);

/* One key. Returns its entry or COUA_FIB_MISS. Prefer batches: one key at a time waits for memory
 * once per key. [reader] */
COUA_API uint32_t coua_fib_lookup(coua_fib_reader* reader, uint64_t key);

/* `n` keys, any number. Writes `n` entries; returns the number of hits. [reader] */
COUA_API size_t coua_fib_lookup_batch(coua_fib_reader* reader, const uint64_t* keys, size_t n,
                                      uint32_t* entries);

/* The same, while the memory of the next batch is fetched: `next_keys` should be the `keys` of the
 * following call (any other is correct, but slower); `n_next` may be 0. [reader] */
COUA_API size_t coua_fib_lookup_ahead(coua_fib_reader* reader, const uint64_t* keys, size_t n,
                                      uint32_t* entries, const uint64_t* next_keys, size_t n_next);

/* Asynchronous look-up: submits `n` keys and writes the entries of up to `n` keys that were
 * submitted before, in the order of submission; returns how many. At most
 * coua_fib_pipeline_depth() keys are in flight. [reader] */
COUA_API size_t coua_fib_pipeline(coua_fib_reader* reader, const uint64_t* keys, size_t n,
                                  uint32_t* entries);
/* Keys that may be in flight. [any] */
COUA_API size_t coua_fib_pipeline_depth(const coua_fib_reader* reader);
/* Writes the entries of all keys in flight (up to the depth); returns how many. [reader] */
COUA_API size_t coua_fib_pipeline_drain(coua_fib_reader* reader, uint32_t* entries);

/* As coua_fib_lookup_batch; each entry that is found and whose age stamp is not of the current
 * epoch is refreshed, by a compare-exchange of the word that was read: a concurrent change by the
 * writer wins, and an erased entry never comes back. [reader] */
COUA_API size_t coua_fib_lookup_refresh(coua_fib_reader* reader, const uint64_t* keys, size_t n,
                                        uint32_t* entries);

/* Writing. ------------------------------------------------------------------------------------ */

/* Inserts or replaces one entry; returns an enum coua_fib_insert_result, or -EINVAL (a member of
 * the record out of range). Bounded work, no allocation. [writer] */
COUA_API int coua_fib_insert(coua_fib* fib, const struct coua_fib_record* record);

/* `n` records, with their buckets prefetched. `results`, when not null, receives one
 * coua_fib_insert_result or -EINVAL each. Returns the number added or updated. [writer] */
COUA_API size_t coua_fib_insert_batch(coua_fib* fib, const struct coua_fib_record* records,
                                      size_t n, int8_t* results);

/* Removes one entry. 0, -ENOENT, -EINVAL. [writer] */
COUA_API int coua_fib_erase(coua_fib* fib, uint64_t key);

/* `n` keys, with prefetch. Returns the number removed. [writer] */
COUA_API size_t coua_fib_erase_batch(coua_fib* fib, const uint64_t* keys, size_t n);

/* Gives one entry the current age stamp. A static one has none: then it is there, and nothing
 * changes. 0, -ENOENT, -EINVAL. [writer] */
COUA_API int coua_fib_refresh(coua_fib* fib, uint64_t key);

/* Bulk load on several threads. `next` is called by each thread with its own number and fills up to
 * `max` records; it returns 0 when that thread has no more. With `distinct` not 0 the caller
 * vouches that no key comes twice and none is in the table already: the load then reads half the
 * memory. `threads`, 1 to COUA_FIB_LOAD_THREADS_MAX, are numbered from 0; 0: as many as the system
 * has processors, up to that. Where it starts fewer, and in wide8 tables, one thread calls `next`
 * with several of these numbers, one after the other. Readers may run; the writer may not. Records
 * of a thread take effect before the call returns; for tables of 1 GiB and more, up to 1/40 of
 * their memory is taken meanwhile to sort them. Returns 0; -EINVAL when `threads` is more (nothing
 * is loaded), or records were out of range; -ENOSPC when entries were refused (`stats.refused`
 * counts them). With these two all other records are loaded. -ENOMEM: some are. [writer] */
typedef size_t (*coua_fib_bulk_source)(void* context, unsigned thread,
                                       struct coua_fib_record* records, size_t max);
COUA_API int coua_fib_bulk_load(coua_fib* fib, coua_fib_bulk_source next, void* context,
                                unsigned threads, int distinct);

/* Ageing. Time is the caller's: an epoch is a sixth of the ageing time. -------------------------
 */

/* Looks at up to `n_buckets` further buckets: removes the dynamic entries that were refreshed six
 * epochs ago or earlier, and moves entries from their secondary bucket to their primary where
 * erased ones left room (look-ups find an entry in its primary sooner); `expired`, when not null,
 * is told each (it must not call the writer functions). Returns 1 when the sweep of this epoch is
 * complete, else 0. [writer] */
typedef void (*coua_fib_expired)(void* context, const struct coua_fib_record* record);
COUA_API int coua_fib_sweep(coua_fib* fib, uint64_t n_buckets, coua_fib_expired expired,
                            void* context);

/* The moves of a sweep without the ageing, for a table in which nothing ages: looks at up to
 * `n_buckets` further buckets, and begins anew at the end of the table. Returns 1 when it came to
 * the end, else 0. [writer] */
COUA_API int coua_fib_tidy(coua_fib* fib, uint64_t n_buckets);

/* Starts the next epoch. -EAGAIN while the sweep of the current one is not complete: an age stamp
 * has 3 bits, and an entry must be looked at before its stamp comes round. [writer] */
COUA_API int coua_fib_next_epoch(coua_fib* fib);

/* Iteration. ------------------------------------------------------------------------------------
 */

/* A cursor returns every entry that stays in the table from opening to end exactly once, also when
 * entries are inserted, erased and moved between the calls. It remembers those that inserts move
 * across it, as many as the table has slots, at least 65,536 and at most 1,048,576. When more moved
 * since it last came by, it is lost: all calls answer -EOVERFLOW, and a new one must begin again.
 * -ENOMEM. [writer] */
COUA_API int coua_fib_cursor_open(coua_fib* fib, coua_fib_cursor** cursor);
/* Writes up to `max` (at least 8) records. Returns how many; 0: the end; -EINVAL: `max` < 8;
 * -EOVERFLOW. [writer] */
COUA_API long coua_fib_cursor_next(coua_fib_cursor* cursor, struct coua_fib_record* records,
                                   size_t max);
/* The same, and looks at no more than `max_buckets` (at least 1) buckets, so that one call takes
 * bounded time in a table of which much is empty. Returns how many records, which may be 0 before
 * the end; -ENODATA: the end; -EINVAL; -EOVERFLOW. [writer] */
COUA_API long coua_fib_cursor_step(coua_fib_cursor* cursor, struct coua_fib_record* records,
                                   size_t max, uint64_t max_buckets);
/* Closes it; null is allowed. [writer] */
COUA_API void coua_fib_cursor_close(coua_fib_cursor* cursor);

#ifdef __cplusplus
}
#endif
#endif
