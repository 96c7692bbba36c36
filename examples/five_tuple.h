/* SPDX-License-Identifier: Apache-2.0
 *
 * The key of both examples: who talks to whom, the same for both directions. Every byte of a key
 * counts, so the struct has no padding but bytes of its own that are always zero.
 */
#ifndef FIVE_TUPLE_H
#define FIVE_TUPLE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PROTO_TCP 6
#define PROTO_UDP 17
#define TCP_FIN 1
#define TCP_RST 4

/* In network byte order; of the two ends, the lower one first. */
struct five_tuple {
  uint8_t address[2][4];
  uint8_t port[2][2];
  uint8_t proto;
  uint8_t zero[3];
};

struct packet_facts {
  unsigned side;     /* which of the two ends sent it */
  uint8_t tcp_flags; /* 0 unless TCP */
};

/* Reads the headers of an Ethernet frame, with up to two VLAN tags. 1 for TCP and UDP over IPv4; 0
 * for anything else, also for what is cut short and for fragments, which do not name their ports.
 */
static inline int read_five_tuple(const uint8_t* frame, size_t n, struct five_tuple* key,
                                  struct packet_facts* facts) {
  size_t at = 12, header;
  const uint8_t *ip, *l4;
  unsigned tags;
  int order;
  for (tags = 0; tags < 2 && n >= at + 6; tags++, at += 4) {
    const unsigned type = (unsigned)(frame[at] << 8 | frame[at + 1]);
    if (type != 0x8100 && type != 0x88a8) break;
  }
  if (n < at + 2 + 20 || frame[at] != 0x08 || frame[at + 1] != 0x00) return 0;
  ip = frame + at + 2;
  n -= at + 2;
  header = (size_t)(ip[0] & 15) * 4;
  if (ip[0] >> 4 != 4 || header < 20 || n < header + 8) return 0;
  if ((ip[6] & 0x3f) != 0 || ip[7] != 0) return 0; /* a fragment */
  if (ip[9] != PROTO_TCP && ip[9] != PROTO_UDP) return 0;
  if (ip[9] == PROTO_TCP && n < header + 14) return 0;
  l4 = ip + header;
  facts->tcp_flags = ip[9] == PROTO_TCP ? l4[13] : 0;
  order = memcmp(ip + 12, ip + 16, 4);
  if (order == 0) order = memcmp(l4, l4 + 2, 2);
  facts->side = order > 0;
  memset(key, 0, sizeof *key);
  memcpy(key->address[facts->side], ip + 12, 4);
  memcpy(key->address[!facts->side], ip + 16, 4);
  memcpy(key->port[facts->side], l4, 2);
  memcpy(key->port[!facts->side], l4 + 2, 2);
  key->proto = ip[9];
  return 1;
}

#endif
