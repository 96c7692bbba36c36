/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of libopenvswitch whose headers are C only.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct flow;

#ifdef __cplusplus
extern "C" {
#endif

/* A packet with the fields of the flow, and nothing behind its headers. Returns how long it is;
 * more than `room`: it did not fit. */
size_t coua_compose(const struct flow* flow, uint8_t* into, size_t room);

#ifdef __cplusplus
}
#endif
