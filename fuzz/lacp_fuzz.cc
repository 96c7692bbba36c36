// SPDX-License-Identifier: Apache-2.0
//
// LACP between a bond and whatever is at the other ends of its members: frames of any bytes, PDUs
// of partners that agree with it or do not, links, members and time. It reads nothing beyond a
// frame, and what it does is what it may do.
#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <vector>

#include "dp/bond/lacp.h"
#include "fuzz.h"

namespace {

using namespace coua::dp;

constexpr std::uint64_t second_ns = 1'000'000'000;
constexpr std::uint16_t key = 7;

/// Any frame. What is taken for a PDU says the same when it is written again.
void check_parser(const std::vector<std::uint8_t>& frame) {
  lacp_pdu pdu, again;
  if (!parse_lacpdu(frame, pdu)) return;
  const slow_frame written = write_lacpdu(pdu, {});
  COUA_CHECK(parse_lacpdu(written, again));
  COUA_CHECK(again.actor == pdu.actor && again.partner == pdu.partner);
}

mac_bytes mac_of(std::uint8_t n) { return {2, 0, 0, 0, 0, n}; }

class bond {
 public:
  bond(unsigned n_members, lacp_rate rate) {
    for (unsigned m = 0; m < n_members; ++m) members_.push_back(new_member());
    lacp_.emplace(sources(), rate, key);
  }

  void run(coua::fuzz::input& in) {
    const std::uint8_t what = in.take<std::uint8_t>();
    const unsigned m = (what >> 4) % static_cast<unsigned>(members_.size());
    switch (what & 0x07) {
      case 0: return receive(m, raw_frame(in));
      case 1: return receive(m, frame_of_a_partner(m, in));
      case 2: return receive(m, marker(in));
      case 3: return set_link(m, in.take<std::uint8_t>());
      case 4: return lacp_->set_rate((what & 0x08) != 0 ? lacp_rate::fast : lacp_rate::slow);
      case 5: return change_members(in);
      default: return pass(in.take<std::uint16_t>() * std::uint64_t{1'000'000});
    }
  }

 private:
  struct member {
    mac_bytes source{};
    bool link = false;
    std::uint64_t n_given = 0;  // frames, while its link was up
    std::deque<std::uint64_t> sent;
  };

  member new_member() {
    member made;
    made.source = mac_of(next_mac_++);
    return made;
  }
  std::vector<mac_bytes> sources() const {
    std::vector<mac_bytes> all;
    for (const member& each : members_) all.push_back(each.source);
    return all;
  }

  // Blocks of exactly their size, so that the sanitizer sees a read beyond them.
  static std::vector<std::uint8_t> raw_frame(coua::fuzz::input& in) {
    std::vector<std::uint8_t> frame(in.take<std::uint8_t>());
    for (std::uint8_t& byte : frame) byte = in.take<std::uint8_t>();
    return frame;
  }
  static std::vector<std::uint8_t> marker(coua::fuzz::input& in) {
    std::vector<std::uint8_t> frame(in.take<std::uint8_t>() % 200);
    constexpr std::uint8_t head[] = {0x88, 0x09, 2, 1, 1, 16};
    for (std::size_t i = 12; i < frame.size(); ++i)
      frame[i] = i - 12 < std::size(head) ? head[i - 12] : in.take<std::uint8_t>();
    return frame;
  }
  /// One of a few partners, that has heard of us or has not.
  std::vector<std::uint8_t> frame_of_a_partner(unsigned m, coua::fuzz::input& in) {
    const std::uint8_t who = in.take<std::uint8_t>(), flags = in.take<std::uint8_t>();
    lacp_pdu pdu;
    // As high as 3: the bond itself.
    pdu.actor.system = (who & 3) == 3 ? lacp_->actor(0).system : mac_of(0xf0 + (who & 3));
    pdu.actor.key = who >> 2 & 1;
    pdu.actor.port = static_cast<std::uint16_t>(m + (who >> 3 & 1));
    pdu.actor.flags = flags;
    if ((who & 0x80) == 0) pdu.partner = lacp_->actor(m);
    const slow_frame written = write_lacpdu(pdu, mac_of(0xff));
    return {written.begin(), written.end()};
  }

  void receive(unsigned m, const std::vector<std::uint8_t>& frame) {
    check_parser(frame);
    members_[m].n_given += members_[m].link ? 1 : 0;
    lacp_->receive(m, frame, now_ns_, sender());
    COUA_CHECK(lacp_->received(m) + lacp_->malformed(m) <= members_[m].n_given);
  }
  void set_link(unsigned m, std::uint8_t what) {
    members_[m].link = (what & 1) != 0;
    lacp_->set_link(m, members_[m].link, (what & 2) != 0 ? 10'000 : 1'000, now_ns_);
  }
  /// Drops some, and puts new ones between the others.
  void change_members(coua::fuzz::input& in) {
    const std::uint8_t kept = in.take<std::uint8_t>(), added = in.take<std::uint8_t>();
    std::vector<std::optional<unsigned>> from;
    std::vector<member> after;
    for (unsigned m = 0; m < bond_members_max; ++m) {
      if (m < members_.size() && (kept >> m & 1) != 0 && after.size() < bond_members_max) {
        from.emplace_back(m);
        after.push_back(members_[m]);
      }
      if ((added >> m & 1) != 0 && after.size() < bond_members_max) {
        from.emplace_back();
        after.push_back(new_member());
      }
    }
    if (after.empty()) return;
    members_ = std::move(after);
    lacp_->change_members(from, sources());
    for (unsigned m = 0; m < members_.size(); ++m)
      for (unsigned other = 0; other < m; ++other)
        COUA_CHECK(lacp_->actor(m).port != lacp_->actor(other).port);
  }

  void pass(std::uint64_t ns) {
    now_ns_ += ns;
    lacp_->tick(now_ns_, sender());
    check();
  }

  lacp::send_function sender() {
    return [this](unsigned m, const slow_frame& frame) {
      COUA_CHECK(m < members_.size() && members_[m].link);
      COUA_CHECK(std::equal(frame.begin() + 6, frame.begin() + 12, members_[m].source.begin()));
      lacp_pdu pdu;
      if (!parse_lacpdu(frame, pdu)) {  // the answer to a marker, then
        COUA_CHECK(frame[14] == 2 && frame[16] == 2);
        return;
      }
      COUA_CHECK(pdu.actor == lacp_->actor(m) && pdu.actor.key == key);
      auto& sent = members_[m].sent;
      sent.push_back(now_ns_);
      // Three in a second, whatever the other end does.
      if (sent.size() > 4) sent.pop_front();
      COUA_CHECK(sent.size() < 4 || sent.back() - sent.front() >= second_ns);
    };
  }

  void check() const {
    const member_set collecting = lacp_->collecting(), distributing = lacp_->distributing();
    COUA_CHECK((distributing & ~collecting) == 0);
    std::optional<unsigned> first;
    for (unsigned m = 0; m < bond_members_max; ++m) {
      if ((collecting & member_bit(m)) == 0) continue;
      COUA_CHECK(m < members_.size() && members_[m].link);
      const lacp_side& partner = lacp_->partner(m);
      COUA_CHECK((partner.flags & lacp_flag::in_sync) != 0);
      COUA_CHECK(partner.system != lacp_->actor(m).system);
      COUA_CHECK((distributing & member_bit(m)) == 0 ||
                 (partner.flags & lacp_flag::collecting) != 0);
      if (!first) first = m;
      COUA_CHECK(*first == m || (partner.system == lacp_->partner(*first).system &&
                                 partner.key == lacp_->partner(*first).key));
    }
    for (unsigned m = 0; m < members_.size(); ++m) {
      COUA_CHECK(!lacp_->state(m).empty());
      COUA_CHECK((lacp_->state(m) == "active") == ((distributing & member_bit(m)) != 0));
    }
  }

  std::vector<member> members_;
  std::optional<lacp> lacp_;
  std::uint64_t now_ns_ = second_ns;
  std::uint8_t next_mac_ = 1;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check_parser({data, data + size});
  coua::fuzz::input in(data, size);
  const std::uint8_t first = in.take<std::uint8_t>();
  bond one(1 + first % bond_members_max, (first & 0x80) != 0 ? lacp_rate::fast : lacp_rate::slow);
  while (!in.empty()) one.run(in);
  return 0;
}
