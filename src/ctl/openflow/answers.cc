// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ctl/openflow/answerer.h"

namespace coua::openflow {
namespace {

/// The port of this number; null: there is none.
const ofp::port_facts* find(const std::vector<ofp::port_facts>& in, pipeline::port_no number) {
  const auto found = std::ranges::find(in, number, &ofp::port_facts::number);
  return found == in.end() ? nullptr : &*found;
}

}  // namespace

void conversation::answerer::operator()(const ofp::ask::features&) const {
  in.send_(ofp::features_reply(asked, in.bridge_.identity.datapath_id, control().n_tables()));
}

void conversation::answerer::operator()(const ofp::ask::get_config&) const {
  in.send_(ofp::config_reply(asked, in.config()));
}

void conversation::answerer::operator()(const ofp::ask::set_config& wanted) const {
  constexpr std::uint16_t bad_flags = 0;
  if (wanted.fragments != 0) {
    return in.refuse(asked, {ofp::switch_config_failed, bad_flags, 0, "fragments are forwarded"});
  }
  const std::lock_guard hold(in.mutex_);
  in.config_ = wanted;
  in.is_told_ = true;
}

void conversation::answerer::operator()(const ofp::ask::role& wanted) const {
  const auto given = in.bridge_.roles.ask(in.role_, wanted);
  if (!given) return in.refuse(asked, given.error());
  in.send_(ofp::role_reply(asked, given->role, given->generation));
}

void conversation::answerer::operator()(const ofp::ask::get_async&) const {
  in.send_(ofp::async_reply(asked, in.masks()));
}

void conversation::answerer::operator()(const ofp::ask::set_async& wanted) const {
  const std::lock_guard hold(in.mutex_);
  in.masks_ = wanted.masks;
  in.is_told_ = true;
}

void conversation::answerer::operator()(const ofp::ask::port_mod& wanted) const {
  constexpr std::uint16_t bad_number = 0, bad_address = 1, bad_config = 2, bad_advertise = 3;
  constexpr std::uint32_t known =
      ofp::port_down | ofp::port_no_recv | ofp::port_no_fwd | ofp::port_no_packet_in;
  const std::vector<ofp::port_facts> ports = control().ports();
  const ofp::port_facts* port = find(ports, wanted.number);
  if (port == nullptr) {
    return in.refuse(asked, {ofp::port_mod_failed, bad_number, 0, "there is no such port"});
  }
  if (port->mac != wanted.mac) {
    return in.refuse(asked,
                     {ofp::port_mod_failed, bad_address, 0, "the address is another port's"});
  }
  if ((wanted.mask & ~known) != 0) {
    return in.refuse(asked, {ofp::port_mod_failed, bad_config, 0, "unknown bits"});
  }
  if (wanted.advertise != 0) {
    return in.refuse(asked, {ofp::port_mod_failed, bad_advertise, 0,
                             "what a port advertises is its device's own to say"});
  }
  if (auto done = control().set_port_config(wanted.number, wanted.config, wanted.mask); !done) {
    in.refuse(asked, ofp::to_refusal(done.error()));
  }
}

void conversation::answerer::operator()(const ofp::ask::table_mod& wanted) const {
  constexpr std::uint16_t bad_number = 0, bad_config = 1;
  constexpr std::uint32_t deprecated = 3;  // the bits that OpenFlow 1.3 has, without a meaning
  if (wanted.table != pipeline::table_all && wanted.table >= control().n_tables()) {
    return in.refuse(asked, {ofp::table_mod_failed, bad_number, 0, "there is no such table"});
  }
  if ((wanted.config & ~deprecated) != 0) {
    in.refuse(asked, {ofp::table_mod_failed, bad_config, 0, "unknown bits"});
  }
}

void conversation::answerer::operator()(const ofp::ask::packet_out& wanted) const {
  pipeline::packet one;
  one.in_port = wanted.in_port;
  one.bytes = wanted.bytes;
  if (auto done = control().packet_out(one, wanted.actions); !done) {
    in.refuse(asked, ofp::to_refusal(done.error()));
  }
}

void conversation::answerer::operator()(const ofp::ask::bundle_control& wanted) const {
  tl::expected<void, ofp::refusal> done;
  switch (wanted.step) {
    case ofp::bundle_step::commit: return in.commit(asked, wanted);
    case ofp::bundle_step::open: done = in.bundles_.open(wanted); break;
    case ofp::bundle_step::close: done = in.bundles_.close(wanted); break;
    case ofp::bundle_step::discard:
      if (auto taken = in.bundles_.take(wanted); !taken) done = tl::unexpected(taken.error());
      break;
  }
  if (!done) return in.refuse(asked, done.error());
  in.send_(ofp::bundle_reply(asked, wanted));
}

void conversation::answerer::operator()(ofp::ask::bundle_add& wanted) const {
  if (auto done = in.bundles_.add(wanted); !done) in.refuse(asked, done.error());
}

}  // namespace coua::openflow
