/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "ctl/ofp/compose.h"

#include <dp-packet.h>
#include <flow.h>
#include <string.h>

size_t coua_compose(const struct flow* flow, uint8_t* into, size_t room) {
  struct dp_packet packet;
  dp_packet_init(&packet, 0);
  flow_compose(&packet, flow, NULL, 0);
  size_t size = dp_packet_size(&packet);
  if (size <= room) memcpy(into, dp_packet_data(&packet), size);
  dp_packet_uninit(&packet);
  return size;
}
