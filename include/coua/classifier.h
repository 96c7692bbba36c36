/* SPDX-License-Identifier: Apache-2.0
 *
 * The wildcard classifier: rules of a key, a mask that chooses any bits of it, and a priority. A
 * look-up finds the rule of the highest priority that matches. For access lists, policy routing,
 * OpenFlow tables. One writer, and any number of lock-free readers at the same time.
 *
 * Conventions
 *  1. Handles are opaque; every handle has one function that creates and one that destroys it.
 *  2. Functions return 0 or a positive answer, and -errno on failure. No function sets errno,
 *     prints or throws, nor aborts on a value out of range. A pointer that must not be null
 *     is -EINVAL, but in coua_classifier_lookup and coua_classifier_lookup_batch, which are made
 *     for each packet and trust their pointers: their reader, and the keys of a batch that is not
 *     empty, must not be null.
 *  3. A parameter struct starts with its own size: set it by COUA_CLASSIFIER_PARAMS_INIT, so that a
 *     program built against an older header works with a newer library.
 *  4. Thread rules: [any] any thread at any time; [writer] one thread at a time, the writer of this
 *     classifier, while readers run; [reader] the thread that owns that reader handle; [exclusive]
 *     no other call on this classifier at the same time.
 *  5. Keys and masks are `key_bytes` bytes; an array of keys has one every `key_bytes` bytes. They
 *     need no alignment. A key k matches a rule when (k & mask) equals the rule's key.
 *  6. Of two rules that match, the one of the higher priority counts. Of several with the same
 *     priority it may be any of them: let them not overlap, or give them different priorities.
 *  7. Which keys of a batch matched is told in words of 64 bits: key i did when bit i % 64 of
 *     hits[i / 64] is set. A call writes all COUA_CLASSIFIER_WORDS(n) words.
 *
 * Sources: tuple space search (Srinivasan, Suri, Varghese, SIGCOMM 1999), the cuckoo distributor of
 * an Open vSwitch patch series (Wang, 2017); what differs is in docs/classifier.md.
 */
#ifndef COUA_CLASSIFIER_H
#define COUA_CLASSIFIER_H

#include <stddef.h>
#include <stdint.h>

#include "coua/common.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coua_classifier coua_classifier;
typedef struct coua_classifier_reader coua_classifier_reader;

#define COUA_CLASSIFIER_KEY_BYTES_MAX 256
/* Of the words of 8 bytes of a key, those that one mask may take bits of. */
#define COUA_CLASSIFIER_MASK_WORDS_MAX 16
#define COUA_CLASSIFIER_MASKS_DEFAULT 4096
#define COUA_CLASSIFIER_MASKS_MAX 32768
#define COUA_CLASSIFIER_READERS_MAX 256
#define COUA_CLASSIFIER_WORDS(n) (((n) + 63) / 64)

/* Whether a reader asks its distributor which mask to try first. */
enum coua_classifier_distributor COUA_ANY_INT {
  COUA_DISTRIBUTOR_AUTO = 0, /* when it saves more than it costs; decided anew all the time */
  COUA_DISTRIBUTOR_ON,
  COUA_DISTRIBUTOR_OFF
};

struct coua_classifier_params {
  size_t size;        /* sizeof(struct coua_classifier_params) */
  uint32_t key_bytes; /* 1 to 256 */
  uint32_t masks_max; /* different masks at a time, 1 to 32,768; 0: 4,096 */
  uint64_t rules_max; /* rules at a time, 1 to 2^31; 0: 2^24 */
  enum coua_classifier_distributor distributor;
  uint32_t flows; /* flows that each reader's distributor has room for, 16 to 2^26, rounded up
                     to a power of two; 4 bytes each; 0: 2^20 */
  uint32_t proof_budget;   /* rules that one update may compare itself with to prove later hints;
                            0: 262,144 */
  uint32_t unpruned;       /* 1: a search asks every mask in turn; 0: those that can match by the
                              bytes of the key, found at once. For comparisons */
  const uint8_t* hash_key; /* 32 bytes; null: drawn from the kernel. Who knows the key can choose
                          rules and flows that collide */
};

#define COUA_CLASSIFIER_PARAMS_INIT \
  { sizeof(struct coua_classifier_params), 0, 0, 0, COUA_DISTRIBUTOR_AUTO, 0, 0, 0, 0 }

/* What an update did. */
enum coua_classifier_result {
  COUA_CLASSIFIER_ADDED = 1,  /* a new rule */
  COUA_CLASSIFIER_UPDATED = 2 /* key, mask and priority were there: the value was replaced */
};

struct coua_classifier_answer {
  uint32_t value;
  uint32_t priority;
};

/* Creates a classifier. Errors: -EINVAL (a parameter out of range; `message`, when not null,
 * receives up to `message_bytes` of text that names it), -ENOMEM. [any] */
COUA_API int coua_classifier_create(const struct coua_classifier_params* params,
                                    coua_classifier** classifier, char* message,
                                    size_t message_bytes);

/* Destroys the classifier and its readers. Null is allowed. [exclusive] */
COUA_API void coua_classifier_destroy(coua_classifier* classifier);

/* Adds a rule, or replaces the value of the rule with the same key, mask and priority. Returns an
 * enum coua_classifier_result, or, with nothing changed:
 *   -EINVAL  the key has bits that the mask leaves out (no packet could match), or a null pointer
 *   -ERANGE  the mask takes bits of more than 16 words of 8 bytes
 *   -E2BIG   it would be the first rule of a mask, and there are masks_max masks
 *   -EAGAIN  likewise, and readers that are in the middle of a call hold hundreds of masks that are
 *            gone: try again
 *   -ENOSPC  there are rules_max rules
 *   -ENOMEM
 * Readers see the rule at once. Its cost grows with the rules of other masks that overlap in
 * priority, up to proof_budget comparisons. [writer] */
COUA_API int coua_classifier_add(coua_classifier* classifier, const void* key, const void* mask,
                                 uint32_t priority, uint32_t value);

/* Removes the rule with this key, mask and priority: 0, or, with nothing changed, -ENOENT, -EINVAL,
 * -ENOMEM. [writer] */
COUA_API int coua_classifier_remove(coua_classifier* classifier, const void* key, const void* mask,
                                    uint32_t priority);

/* The value of the rule with this key, mask and priority: 0, -ENOENT, -EINVAL. [writer] */
COUA_API int coua_classifier_get(const coua_classifier* classifier, const void* key,
                                 const void* mask, uint32_t priority, uint32_t* value);

/* Calls `rule` for each rule, in no order, until it returns something other than 0, which is then
 * returned; 0 at the end. It must not change the classifier. [writer] */
COUA_API int coua_classifier_each(const coua_classifier* classifier,
                                  int (*rule)(void* context, const void* key, const void* mask,
                                              uint32_t priority, uint32_t value),
                                  void* context);

/* Frees what updates have replaced and readers have left. Updates do it too; call it when they
 * pause and memory matters. Never waits. Returns how many blocks are still held. [writer] */
COUA_API size_t coua_classifier_reclaim(coua_classifier* classifier);

struct coua_classifier_stats {
  size_t size; /* sizeof(struct coua_classifier_stats), set by the caller */
  uint64_t rules, masks;
  uint64_t bytes;                            /* of memory, without readers */
  uint64_t added, updated, removed, refused; /* since creation */
  uint64_t rebuilds;                         /* tables of one mask that were built anew, larger */
  uint64_t proofs_given_up;                  /* updates that reached proof_budget */
};
/* [writer] */
COUA_API int coua_classifier_get_stats(const coua_classifier* classifier,
                                       struct coua_classifier_stats* stats);

struct coua_classifier_mask {
  size_t size; /* sizeof(struct coua_classifier_mask), set by the caller */
  uint64_t rules;
  uint64_t hits; /* look-ups that a rule of this mask won, of all readers, since the mask came */
  uint64_t bytes;
  uint32_t highest, lowest; /* priority */
  uint8_t mask[COUA_CLASSIFIER_KEY_BYTES_MAX];
};
/* Number `index` of the masks, those of the highest priority first: 0, -ENOENT behind the last.
 * [writer] */
COUA_API int coua_classifier_get_mask(const coua_classifier* classifier, size_t index,
                                      struct coua_classifier_mask* mask);

/* Look-up. ------------------------------------------------------------------------------------ */

/* A reader keeps what one looking-up thread needs: its distributor, its ranking of the masks, its
 * counters. -EINVAL, -ENOMEM, -ENOSPC (256 readers). [any]; destroying it is [reader]. */
COUA_API int coua_classifier_reader_create(coua_classifier* classifier,
                                           coua_classifier_reader** reader);
COUA_API void coua_classifier_reader_destroy(coua_classifier_reader* reader);

/* One key: 1 when a rule matches (`answer` receives it), else 0. Prefer batches. [reader] */
COUA_API int coua_classifier_lookup(coua_classifier_reader* reader, const void* key,
                                    struct coua_classifier_answer* answer);

/* `n` keys, any number; returns how many matched. The answer of a key that matched no rule is left
 * as it was. Every answer was right at some moment during the call. [reader] */
COUA_API size_t coua_classifier_lookup_batch(coua_classifier_reader* reader, const void* keys,
                                             size_t n, struct coua_classifier_answer* answers,
                                             uint64_t* hits);

struct coua_classifier_reader_stats {
  size_t size; /* sizeof(struct coua_classifier_reader_stats), set by the caller */
  uint64_t lookups, hits;
  uint64_t probes;        /* tables of one mask looked into */
  uint64_t hit_probes;    /* of them, for keys that matched: hit_probes / hits a hit */
  uint64_t hinted;        /* keys for which the distributor had a hint */
  uint64_t final_hints;   /* of them, answered by that one probe, proven right */
  uint64_t checked_hints; /* of them, matched there, but other masks had to be asked as well */
  uint64_t false_hints;   /* of them, not matched there */
  uint64_t repeats;       /* groups of up to 32 keys that updates overtook: looked up again */
  uint64_t unsettled;     /* keys that updates overtook 16 times: their last answer was given */
  uint64_t switches;      /* times the distributor went on or off */
  double saved_probes;    /* a look-up, by the distributor (measured while on, estimated while off),
                             over the last window: what decides */
  uint32_t distributor_on;
  uint32_t flows;   /* that the distributor uses room for now; it grows as it fills */
  const char* simd; /* "generic", "avx2" or "avx512" */
};
/* [any]; counts of one reader may be off by the batch in progress. */
COUA_API int coua_classifier_get_reader_stats(const coua_classifier_reader* reader,
                                              struct coua_classifier_reader_stats* stats);

#ifdef __cplusplus
}
#endif
#endif
