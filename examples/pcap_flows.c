/* SPDX-License-Identifier: Apache-2.0
 *
 * pcap_flows FILE [ENTRIES]: the TCP and UDP flows of a capture file (classic pcap, Ethernet), each
 * as one line when it has been silent for too long or at the end of the file.
 *
 * What it shows: keys of 16 bytes -> the number of a slab cell, where the state that each packet
 * changes stays at one address; look-up and insert in one call; a life for each kind of flow; a
 * callback that gives the cell of an expired flow back. Time is that of the packets, so the same
 * file always gives the same flows.
 */
#include <coua/flow_table.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "five_tuple.h"

enum { unit_ms = 1000, tcp_units = 300, udp_units = 30, closed_units = 5 };
enum { frame_bytes_max = 262144, sweep_share = 16 };

struct flow_state {
  uint64_t packets[2], bytes[2]; /* by the end that sent them */
  uint64_t first_ms, last_ms;
  uint32_t opener; /* the end that sent the first packet */
  uint32_t closed; /* FIN or RST was seen */
};

struct tracker {
  coua_flow_table* table;
  coua_flow_slab* states;
  uint64_t packets, other, opened, expired, refused;
};

static void print_end(const struct five_tuple* key, unsigned side) {
  const uint8_t *a = key->address[side], *p = key->port[side];
  printf("%u.%u.%u.%u:%u", a[0], a[1], a[2], a[3], (unsigned)(p[0] << 8 | p[1]));
}

static void print_flow(const char* what, const struct five_tuple* key,
                       const struct flow_state* state) {
  const unsigned opener = state->opener;
  printf("%s %s ", what, key->proto == PROTO_TCP ? "tcp" : "udp");
  print_end(key, opener);
  printf(" > ");
  print_end(key, !opener);
  printf(" packets %" PRIu64 "/%" PRIu64 " bytes %" PRIu64 "/%" PRIu64 " ms %" PRIu64 "%s\n",
         state->packets[opener], state->packets[!opener], state->bytes[opener],
         state->bytes[!opener], state->last_ms - state->first_ms, state->closed ? " closed" : "");
}

/* The table's callback: runs within a call of this thread, and calls nothing of the table. */
static void on_expired(void* context, const void* key_bytes, const void* value) {
  struct tracker* tracker = context;
  struct five_tuple key;
  uint32_t cell;
  memcpy(&key, key_bytes, sizeof key);
  memcpy(&cell, value, sizeof cell);
  print_flow("expired", &key, coua_flow_slab_cell(tracker->states, cell));
  coua_flow_slab_give(tracker->states, cell);
  tracker->expired++;
}

static int create(struct tracker* tracker, uint64_t entries, uint64_t now_ms) {
  struct coua_flow_params params = COUA_FLOW_PARAMS_INIT;
  char why[256] = "";
  params.entries = entries;
  params.key_bytes = sizeof(struct five_tuple);
  params.value_bytes = sizeof(uint32_t);
  params.timers = 1;
  params.unit_ms = unit_ms;
  params.now_ms = now_ms;
  params.expired = on_expired;
  params.expired_context = tracker;
  if (coua_flow_create(&params, &tracker->table, why, sizeof why) != 0) {
    fprintf(stderr, "pcap_flows: %s\n", why);
    return -1;
  }
  /* One more than the table has slots: the cell of the flow that is being looked up. */
  struct coua_flow_stats stats = {0};
  stats.size = sizeof stats;
  coua_flow_get_stats(tracker->table, &stats);
  if (coua_flow_slab_create(stats.slots + 1, sizeof(struct flow_state), &tracker->states) != 0) {
    fprintf(stderr, "pcap_flows: no memory for the states of %" PRIu64 " flows\n", stats.slots);
    return -1;
  }
  return 0;
}

static void take_packet(struct tracker* tracker, const uint8_t* frame, size_t n, uint64_t bytes,
                        uint64_t now_ms) {
  struct five_tuple key;
  struct packet_facts facts;
  struct flow_state* state;
  uint32_t fresh, cell, units;
  int done;
  tracker->packets++;
  if (!read_five_tuple(frame, n, &key, &facts)) {
    tracker->other++;
    return;
  }
  units = key.proto == PROTO_TCP ? tcp_units : udp_units;
  if (coua_flow_slab_take(tracker->states, &fresh) != 0) abort(); /* there is one more than slots */
  cell = fresh;
  done = coua_flow_find_or_add(tracker->table, &key, &cell, units);
  if (done != COUA_FLOW_ADDED) coua_flow_slab_give(tracker->states, fresh);
  if (done == COUA_FLOW_FULL) {
    tracker->refused++;
    return;
  }
  state = coua_flow_slab_cell(tracker->states, cell);
  if (done == COUA_FLOW_ADDED) {
    memset(state, 0, sizeof *state); /* as the flow before left it */
    state->first_ms = now_ms;
    state->opener = facts.side;
    tracker->opened++;
  }
  state->packets[facts.side]++;
  state->bytes[facts.side] += bytes;
  state->last_ms = now_ms;
  if (facts.tcp_flags & (TCP_FIN | TCP_RST)) state->closed = 1;
  if (state->closed) coua_flow_refresh(tracker->table, &key, closed_units);
}

/* The flows that are still there, by a cursor. */
static uint64_t print_live(struct tracker* tracker) {
  struct five_tuple keys[64];
  uint32_t cells[64];
  coua_flow_cursor* cursor;
  uint64_t n_live = 0;
  long n;
  if (coua_flow_cursor_open(tracker->table, &cursor) != 0) return 0;
  while ((n = coua_flow_cursor_next(cursor, keys, cells, NULL, 64, 1024)) >= 0) {
    for (long i = 0; i < n; i++) {
      print_flow("live", &keys[i], coua_flow_slab_cell(tracker->states, cells[i]));
    }
    n_live += (uint64_t)n;
  }
  coua_flow_cursor_close(cursor);
  return n_live;
}

/* Capture files. */

struct capture {
  FILE* file;
  int swapped;     /* the other byte order */
  uint32_t per_ms; /* of the times' fractions */
};

static uint32_t word(const struct capture* capture, const uint8_t* at) {
  uint32_t w;
  memcpy(&w, at, sizeof w);
  return capture->swapped ? __builtin_bswap32(w) : w;
}

static int open_capture(struct capture* capture, const char* path) {
  uint8_t header[24];
  uint32_t magic;
  capture->file = fopen(path, "rb");
  if (capture->file == NULL) {
    perror(path);
    return -1;
  }
  if (fread(header, 1, sizeof header, capture->file) == sizeof header) {
    memcpy(&magic, header, sizeof magic);
    capture->swapped = magic == 0xd4c3b2a1 || magic == 0x4d3cb2a1;
    if (capture->swapped) magic = __builtin_bswap32(magic);
    capture->per_ms = magic == 0xa1b2c3d4 ? 1000 : magic == 0xa1b23c4d ? 1000000 : 0;
    if (capture->per_ms != 0 && word(capture, header + 20) == 1) return 0;
  }
  fprintf(stderr, "%s: not a classic pcap file of Ethernet frames\n", path);
  return -1;
}

/* 1: a packet; 0: the end; -1: the file is damaged. */
static int next_packet(struct capture* capture, uint8_t* frame, uint32_t* n, uint32_t* wire_bytes,
                       uint64_t* time_ms) {
  uint8_t header[16];
  const size_t got = fread(header, 1, sizeof header, capture->file);
  if (got == 0) return 0;
  if (got != sizeof header) return -1;
  *time_ms = (uint64_t)word(capture, header) * 1000 + word(capture, header + 4) / capture->per_ms;
  *n = word(capture, header + 8);
  *wire_bytes = word(capture, header + 12);
  if (*n > frame_bytes_max || fread(frame, 1, *n, capture->file) != *n) return -1;
  return 1;
}

/* Every packet into the table; 0, or -1 after saying what is wrong. */
static int read_all(struct tracker* tracker, struct capture* capture, const char* path,
                    uint64_t entries) {
  static uint8_t frame[frame_bytes_max];
  struct coua_flow_stats stats = {0};
  uint32_t n, wire_bytes;
  uint64_t time_ms, now_ms = 0;
  int more;
  stats.size = sizeof stats;
  while ((more = next_packet(capture, frame, &n, &wire_bytes, &time_ms)) > 0) {
    if (tracker->table == NULL) {
      if (create(tracker, entries, time_ms) != 0) return -1;
      coua_flow_get_stats(tracker->table, &stats);
    }
    /* A capture of several queues may go back by a little; the table's time never does. */
    if (time_ms > now_ms) {
      const int new_unit = time_ms / unit_ms != now_ms / unit_ms;
      now_ms = time_ms;
      coua_flow_set_time(tracker->table, now_ms);
      /* Not needed for the flows to end in time, but to hear of it soon. */
      if (new_unit) coua_flow_sweep(tracker->table, stats.buckets / sweep_share + 1);
    }
    take_packet(tracker, frame, n, wire_bytes, now_ms);
  }
  if (more < 0) {
    fprintf(stderr, "%s: damaged after packet %" PRIu64 "\n", path, tracker->packets);
    return -1;
  }
  if (tracker->table != NULL) {
    /* Those that expired and were not come by yet: to the end of the table, then all of it. */
    coua_flow_sweep(tracker->table, stats.buckets);
    coua_flow_sweep(tracker->table, stats.buckets);
  }
  return 0;
}

int main(int argc, char** argv) {
  struct tracker tracker = {0};
  struct capture capture = {0};
  const uint64_t entries = argc == 3 ? strtoull(argv[2], NULL, 10) : 100000;
  int rc = 1;
  if (argc < 2 || argc > 3 || entries == 0) {
    fprintf(stderr, "usage: pcap_flows FILE [ENTRIES]\n");
    return 2;
  }
  if (open_capture(&capture, argv[1]) == 0 && read_all(&tracker, &capture, argv[1], entries) == 0) {
    const uint64_t n_live = tracker.table != NULL ? print_live(&tracker) : 0;
    printf("packets %" PRIu64 " other %" PRIu64 " flows %" PRIu64 " expired %" PRIu64
           " live %" PRIu64 " refused %" PRIu64 "\n",
           tracker.packets, tracker.other, tracker.opened, tracker.expired, n_live,
           tracker.refused);
    rc = 0;
  }
  if (capture.file != NULL) fclose(capture.file);
  coua_flow_destroy(tracker.table);
  coua_flow_slab_destroy(tracker.states);
  return rc;
}
