/* SPDX-License-Identifier: Apache-2.0
 *
 * Set separation (SetSep): a map from keys to values of 1 to 16 bits that takes a few bits a key,
 * because it does not hold the keys. A key that was inserted gives its value; any other key gives
 * some value in range, so what it leads to must know its own keys.
 *
 * Two types. A builder knows the keys (some 27 bytes each) and takes changes; what they did to the
 * map comes out as a delta of some ten bytes. A replica does not know the keys; a snapshot of a
 * builder brings it up, deltas keep it up. Readers look up in either without a lock while it
 * changes.
 *
 * Conventions
 *  1. Handles are opaque; every handle has one function that creates and one that destroys it.
 *  2. Functions return 0 or a positive answer, and -errno on failure. No function sets errno,
 *     prints or throws, nor aborts on a value out of range. A pointer that must not be null
 *     is -EINVAL when it is in what creates a handle or tells its statistics, in
 *     coua_setsep_write_snapshot, and in what gives a replica a snapshot, a file or a delta. All
 *     other calls trust their pointers, as those that are made for each packet do: their handle,
 *     and the arrays of a batch that is not empty, must not be null.
 *  3. A parameter struct starts with its own size: set it by COUA_SETSEP_PARAMS_INIT or
 *     COUA_SETSEP_REPLICA_PARAMS_INIT, so that a program built against an older header works with a
 *     newer library.
 *  4. Thread rules: [any] any thread at any time; [writer] one thread at a time, the writer of this
 *     builder or replica, while readers run; [reader] the thread that owns that reader;
 *     [exclusive] no other call on this builder or replica at the same time.
 *  5. Keys have `key_bytes` bytes each, one after the other without gaps. They are known by a keyed
 *     hash of 128 bits: two keys of the same hash would be one, which happens with a probability of
 *     2^-128 for a pair.
 *
 * Source: ScaleBricks (Zhou et al., SIGCOMM 2015), section 4; what differs is in docs/setsep.md.
 */
#ifndef COUA_SETSEP_H
#define COUA_SETSEP_H

#include <stddef.h>
#include <stdint.h>

#include "coua/common.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coua_setsep_builder coua_setsep_builder;
typedef struct coua_setsep_replica coua_setsep_replica;
typedef struct coua_setsep_reader coua_setsep_reader;

#define COUA_SETSEP_KEY_BYTES_MAX 128
#define COUA_SETSEP_VALUE_BITS_MAX 16
#define COUA_SETSEP_KEYS_MAX ((uint64_t)1 << 32)
#define COUA_SETSEP_BLOCK_KEYS 1024 /* on average */

/* Of a key, under the secret of its builder, which is that of its replicas. */
struct coua_setsep_hash {
  uint64_t high, low;
};

struct coua_setsep_params {
  size_t size;         /* sizeof(struct coua_setsep_params) */
  uint32_t key_bytes;  /* 1 to COUA_SETSEP_KEY_BYTES_MAX */
  uint32_t value_bits; /* 1 to COUA_SETSEP_VALUE_BITS_MAX; 0: 1 */
  uint32_t index_bits; /* of a hash function's number: 8 or 16; 0: 16 */
  uint32_t array_bits; /* 8 or 16; 0: 8. See docs/setsep.md for the choice */
  uint64_t keys_max;   /* keys that growth may lead to, to COUA_SETSEP_KEYS_MAX; 0: those given at
                          creation. Without keys at creation the map is made for as many */
  uint32_t threads;    /* that build it, to 256; 0: all processors that the process may use. Where
                          the system has fewer, these do it */
  int32_t numa_node;   /* a node that the system has; -1: not bound */
  const uint8_t* hash_key; /* 32 bytes; null: drawn from the kernel. Who knows the key can choose
                              keys that no function separates */
  /* Called while it is built, with blocks done and all blocks, one call at a time; may be null. */
  void (*progress)(void* context, uint64_t done, uint64_t all);
  void* context;
};

#define COUA_SETSEP_PARAMS_INIT \
  { sizeof(struct coua_setsep_params), 0, 0, 0, 0, 0, 0, -1, 0, 0, 0 }

/* What a change did. */
enum coua_setsep_result {
  COUA_SETSEP_ADDED = 1,
  COUA_SETSEP_UPDATED = 2,
  COUA_SETSEP_UNCHANGED = 3 /* the key had that value */
};

/* What became of a delta. */
enum coua_setsep_outcome {
  COUA_SETSEP_APPLIED = 1,
  COUA_SETSEP_OLD = 2, /* it was applied before, is in the snapshot, or is empty: nothing to do */
  COUA_SETSEP_GAP = 3  /* one before it is missing, or it is of another builder: nothing was
                          applied; load a snapshot */
};

/* Builders. ----------------------------------------------------------------------------------- */

/* Creates a builder of `n` keys, 0 to COUA_SETSEP_KEYS_MAX, and their values. A key may come twice
 * with one value. While it runs it takes 48 bytes a key more than it keeps. Errors: -EINVAL (a
 * parameter or a value out of range; `message`, when not null, receives up to `message_bytes` of
 * text that says which), -EEXIST (a key has two values), -ENOMEM, -ENOENT (no such NUMA node),
 * -EPERM (memory may not be bound to it), -EIO (another failure of the system). [any] */
COUA_API int coua_setsep_builder_create(const struct coua_setsep_params* params, const void* keys,
                                        const uint16_t* values, size_t n,
                                        coua_setsep_builder** builder, char* message,
                                        size_t message_bytes);

/* Destroys the builder and its readers. Null is allowed. [exclusive] */
COUA_API void coua_setsep_builder_destroy(coua_setsep_builder* builder);

/* Gives a key a value: an enum coua_setsep_result, or, with nothing changed, -EINVAL (the value has
 * too many bits), -ENOSPC (a part of the map has 32,768 keys), -EBUSY (the delta has reached a
 * gigabyte: take it), -ENOMEM. Readers of the builder see it at once. The work is that of two
 * groups of some 16 keys. [writer] */
COUA_API int coua_setsep_put(coua_setsep_builder* builder, const void* key, uint16_t value);

/* Removes a key: 0, -ENOENT, -EBUSY (as above), -ENOMEM. [writer] */
COUA_API int coua_setsep_remove(coua_setsep_builder* builder, const void* key);

/* The value that a key was given; -ENOENT. Not a look-up: it knows the keys. [writer] */
COUA_API int coua_setsep_get(const coua_setsep_builder* builder, const void* key);

/* Makes room for 1,024 further keys: one block is split into two. Call it as keys come, so that
 * there is a block for each 1,024 of them (see coua_setsep_get_stats): with more keys to a block
 * changes take longer, and more keys are held in full. -ENOSPC (keys_max), -EBUSY, -ENOMEM.
 * [writer] */
COUA_API int coua_setsep_grow(coua_setsep_builder* builder);

/* Bytes of the delta that coua_setsep_take_delta would write; 0: nothing changed since the last
 * one. [writer] */
COUA_API size_t coua_setsep_delta_bytes(const coua_setsep_builder* builder);
/* Writes what changed since the last delta, with the next number. Returns its bytes, 0 when nothing
 * changed; -ENOSPC: `max` is too little, nothing was taken. [writer] */
COUA_API long coua_setsep_take_delta(coua_setsep_builder* builder, void* delta, size_t max);

/* A snapshot is the whole map at the last delta. It holds the hash key, a secret. */
COUA_API size_t coua_setsep_snapshot_bytes(const coua_setsep_builder* builder);
/* Writes `bytes` bytes, those of coua_setsep_snapshot_bytes(). -EINVAL (another number), -EBUSY
 * (something changed since the last delta: take it first). [writer] */
COUA_API int coua_setsep_snapshot(const coua_setsep_builder* builder, void* snapshot, size_t bytes);

/* Puts a snapshot in the place of the file at `path`, or makes it, written beside it, brought to
 * the disk, then renamed, so that the file is whole at any moment, and replicas that have the old
 * one mapped keep it. Its mode is always 0600, whatever that of the old file, since it holds the
 * hash key; owner and group stay those of the old file. Needs memory for the snapshot meanwhile.
 * -EBUSY (as above), -ENOENT (its directory), -EPERM, -ENOSPC, -EINVAL (not a regular file), -EIO,
 * -ENOMEM; `message` says which. [writer] */
COUA_API int coua_setsep_write_snapshot(const coua_setsep_builder* builder, const char* path,
                                        char* message, size_t message_bytes);

/* Replicas. ----------------------------------------------------------------------------------- */

struct coua_setsep_replica_params {
  size_t size;       /* sizeof(struct coua_setsep_replica_params) */
  uint64_t keys_max; /* keys that growth may lead to; 0: what snapshots have blocks for */
  int32_t numa_node; /* a node that the system has; -1: not bound */
  uint32_t reserved; /* 0 */
};

#define COUA_SETSEP_REPLICA_PARAMS_INIT \
  { sizeof(struct coua_setsep_replica_params), 0, -1, 0 }

/* Creates a replica without a map: look-ups give 0. Errors: -EINVAL, -ENOMEM, -ENOENT (no such NUMA
 * node). [any] */
COUA_API int coua_setsep_replica_create(const struct coua_setsep_replica_params* params,
                                        coua_setsep_replica** replica);

/* Destroys the replica and its readers. Null is allowed. [exclusive] */
COUA_API void coua_setsep_replica_destroy(coua_setsep_replica* replica);

/* Takes a snapshot, the first one or a newer one. Readers go over to it with their next call; until
 * all have made one, or are paused, the memory of the map before is kept; the next snapshot or
 * delta frees it then, or this call where nobody looks up. Errors, the map stays as it was: -EINVAL
 * (damaged; older than the map; of another hash key or length of keys; `message` says which),
 * -ENOMEM, -EPERM (memory may not be bound to the NUMA node), -ENOENT (the node went away), -EIO
 * (another failure of the system). [writer] */
COUA_API int coua_setsep_replica_load(coua_setsep_replica* replica, const void* snapshot,
                                      size_t bytes, char* message, size_t message_bytes);

/* As coua_setsep_replica_load, with a snapshot that lies in a file. The file is mapped, checked
 * whole, and used as it is: a process that brings up several replicas, or several processes that
 * map one file, share its memory, which is the kernel's page cache. Deltas apply as to any other
 * map: a page of 4,096 bytes is copied when the first one changes it, and the file stays as it was.
 * The replica's `numa_node` is not heeded. What this costs and saves is in docs/setsep.md.
 *
 * The file may be renamed, removed or replaced (coua_setsep_write_snapshot), but it must not be
 * written to: what overwrites it may change values, and cutting it off, or a disk that fails
 * afterwards, raises SIGBUS in who looks up. Errors, the map stays as it was: those of
 * coua_setsep_replica_load; -ENOENT, -EPERM, -EIO (it cannot be read). [writer] */
COUA_API int coua_setsep_replica_map(coua_setsep_replica* replica, const char* path, char* message,
                                     size_t message_bytes);

/* Applies a delta: an enum coua_setsep_outcome, or, and the map stays as it was, -EINVAL (damaged),
 * -ENOSPC (growth beyond keys_max), -ENOMEM. One of 0 bytes, which is what a builder gives when
 * nothing changed, is COUA_SETSEP_OLD; it may be null. Readers may see some of its changes before
 * others, and each key's value whole. [writer] */
COUA_API int coua_setsep_replica_apply(coua_setsep_replica* replica, const void* delta,
                                       size_t bytes);

/* Description. -------------------------------------------------------------------------------- */

struct coua_setsep_stats {
  size_t size;                      /* sizeof(struct coua_setsep_stats), set by the caller */
  uint64_t keys;                    /* of a builder now; of a replica at its snapshot */
  uint64_t blocks, blocks_max;      /* each for 1,024 keys */
  uint64_t fallback;                /* keys in groups that no function separates, held in full */
  uint64_t bytes;                   /* of the map, without the builder's keys */
  uint64_t key_bytes;               /* of the builder's keys */
  uint64_t sequence;                /* number of the last delta */
  uint64_t added, updated, removed; /* keys, by the builder since it was made */
  uint64_t groups, moves;           /* records that changed; buckets that changed their group */
  uint64_t deltas;                  /* that the replica applied */
};
/* -EINVAL when `stats->size` is 0. [writer] */
COUA_API int coua_setsep_get_stats(const coua_setsep_builder* builder,
                                   struct coua_setsep_stats* stats);
COUA_API int coua_setsep_replica_get_stats(const coua_setsep_replica* replica,
                                           struct coua_setsep_stats* stats);

/* Look-up. ------------------------------------------------------------------------------------ */

/* What one looking-up thread needs. At most 256 of a builder or replica at a time: -ENOSPC;
 * -ENOMEM. [any]; destroying it is [reader]. */
COUA_API int coua_setsep_builder_reader(coua_setsep_builder* builder, coua_setsep_reader** reader);
COUA_API int coua_setsep_replica_reader(coua_setsep_replica* replica, coua_setsep_reader** reader);
COUA_API void coua_setsep_reader_destroy(coua_setsep_reader* reader);

/* `n` keys, any number; writes `n` values. Prefer 32 or more. [reader] */
COUA_API void coua_setsep_lookup_batch(coua_setsep_reader* reader, const void* keys, size_t n,
                                       uint16_t* values);

/* The hashes of `n` keys: 0, or -EAGAIN while a replica has no map. They are good as long as the
 * builder or replica lives. [reader] */
COUA_API int coua_setsep_hash_batch(const coua_setsep_reader* reader, const void* keys, size_t n,
                                    struct coua_setsep_hash* hashes);
/* As coua_setsep_lookup_batch, with ready hashes. [reader] */
COUA_API void coua_setsep_lookup_hashed(coua_setsep_reader* reader,
                                        const struct coua_setsep_hash* hashes, size_t n,
                                        uint16_t* values);

/* Asynchronous look-up: submits `n` hashes and writes the values of up to `n`, of the oldest that
 * were submitted, in that order; returns how many. At most coua_setsep_pipeline_depth() are in
 * flight. Worth its while in maps that are much larger than the second-level cache; in smaller ones
 * keys are answered at once, as by coua_setsep_lookup_hashed(). [reader] */
COUA_API size_t coua_setsep_pipeline(coua_setsep_reader* reader,
                                     const struct coua_setsep_hash* hashes, size_t n,
                                     uint16_t* values);
COUA_API size_t coua_setsep_pipeline_depth(const coua_setsep_reader* reader);
/* Writes the values of all keys in flight (up to the depth); returns how many. [reader] */
COUA_API size_t coua_setsep_pipeline_drain(coua_setsep_reader* reader, uint16_t* values);

/* Until its next look-up nothing waits for this reader: call it before the thread sleeps. [reader]
 */
COUA_API void coua_setsep_reader_pause(coua_setsep_reader* reader);

#ifdef __cplusplus
}
#endif
#endif
