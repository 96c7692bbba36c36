// SPDX-License-Identifier: Apache-2.0
//
// libopenvswitch as this folder uses it: its headers, owners for what it allocates, and what turns
// off what it would print. Only sources of this folder include it, and headers that only they
// include (*_convert.h): no type of the library leaves the folder.
#pragma once

#include <config.h>
// Before ofp-flow.h, which needs it.
#include <openvswitch/ofp-errors.h>
// clang-format off
#include <openvswitch/dynamic-string.h>
#include <openvswitch/match.h>
#include <openvswitch/meta-flow.h>
#include <openvswitch/ofp-actions.h>
#include <openvswitch/ofp-flow.h>
#include <openvswitch/ofp-group.h>
#include <openvswitch/ofp-match.h>
#include <openvswitch/ofp-meter.h>
#include <openvswitch/ofp-parse.h>
#include <openvswitch/ofp-port.h>
#include <openvswitch/ofpbuf.h>
// clang-format on

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ctl/ofp/port_names.h"
#include "pipeline/model/of_error.h"

// Else <config.h> was another one, and structures differ from those in the library.
static_assert(sizeof(ofpact_type) == 1);

namespace coua::ofp {

/// The library writes no log: what is wrong comes back as an error. To be called before anything
/// of it.
void silence_library();

/// A growing buffer.
class ovs_buffer {
 public:
  ovs_buffer() { ofpbuf_init(&buffer_, 64); }
  ~ovs_buffer() { ofpbuf_uninit(&buffer_); }
  ovs_buffer(const ovs_buffer&) = delete;
  ovs_buffer& operator=(const ovs_buffer&) = delete;

  ofpbuf* get() { return &buffer_; }
  const ofpact* acts() const { return static_cast<const ofpact*>(buffer_.data); }
  std::size_t size() const { return buffer_.size; }

 private:
  ofpbuf buffer_;
};

/// A growing text.
class ovs_text {
 public:
  ovs_text() { ds_init(&text_); }
  ~ovs_text() { ds_destroy(&text_); }
  ovs_text(const ovs_text&) = delete;
  ovs_text& operator=(const ovs_text&) = delete;

  ds* get() { return &text_; }
  std::string_view view() const {
    return {text_.string != nullptr ? text_.string : "", text_.length};
  }

 private:
  ds text_;
};

/// The library's form of port names.
class ovs_port_map {
 public:
  explicit ovs_port_map(const port_names& names);
  ~ovs_port_map() { ofputil_port_map_destroy(&map_); }
  ovs_port_map(const ovs_port_map&) = delete;
  ovs_port_map& operator=(const ovs_port_map&) = delete;

  const ofputil_port_map* get() const { return &map_; }

 private:
  ofputil_port_map map_;
};

/// What the library allocated by malloc.
struct free_it {
  void operator()(void* memory) const { std::free(memory); }
};
using ovs_error_text = std::unique_ptr<char, free_it>;

// The library's ports have 16 bits; reserved ones are at the end of either range.
inline constexpr unsigned ovs_ports_end = 0xff00;
constexpr pipeline::port_no from_ovs_port(ofp_port_t port) {
  return port < ovs_ports_end ? port : port | 0xffff'0000U;
}
/// Errors: bad_action_out_port, when the number does not fit: no port of the switch has it.
pipeline::of_result<ofp_port_t> to_ovs_port(pipeline::port_no port);

}  // namespace coua::ofp
