// SPDX-License-Identifier: Apache-2.0
//
// The port of a bridge that is LOCAL to OpenFlow.
#include <mutex>

#include "dp/pipeline/packet_in.h"
#include "dp/test_pipeline.h"

namespace coua::dp {
namespace {

namespace act = pipeline::act;
using pipeline::port_local;
using pipeline::test::add_rule;
using pipeline::test::apply;
using pipeline::test::output;
using pipeline::test::where;

class local_port_test : public pipeline_test {
 protected:
  test_ring_port& local(const std::string& name, const std::string& bridge = {}) {
    rings_[name] = std::make_unique<test_ring_port>(name);
    add(local_config(name, bridge));
    return *rings_[name];
  }
  port_config local_config(const std::string& name, const std::string& bridge = {}) {
    port_config config = config_of(name);
    config.local = true;
    config.bridge = bridge;
    return config;
  }
  static pipeline::match from_local() {
    return where({exact(pipeline::field::in_port, port_local)});
  }
  std::vector<pipeline::port_no> numbers() {
    return owner().read([](const pipeline::running_bridge& all) {
      std::vector<pipeline::port_no> made;
      for (const auto& [number, one] : all.model().ports()) made.push_back(number);
      return made;
    });
  }

  const frame_bytes frame_ = make_frame(host(2), host(1));
};

TEST_F(local_port_test, packets_come_in_and_leave_by_it) {
  auto& a = access("a");
  auto& l = local("l");
  EXPECT_EQ(numbers(), (std::vector{number("a"), port_local}));
  clear();
  must({add_rule(0, 10, from("a"), apply({output(port_local)})),
        add_rule(0, 10, from_local(), apply({output(number("a"))}))});
  for (unsigned i = 0; i < 40; ++i) {
    ASSERT_TRUE(a.send(frame_));
    EXPECT_EQ(l.receive(), frame_);
    ASSERT_TRUE(l.send(frame_));
    EXPECT_EQ(a.receive(), frame_);
  }
  EXPECT_TRUE(counts("a", "forwarded", 40));
  EXPECT_TRUE(counts("l", "forwarded", 40));
  EXPECT_TRUE(counts("l", "tx_packets", 40));
  EXPECT_TRUE(eventually([&] { return packets_of(10, from_local()) == 40; }));
  // What would be its own number is no port, and it sends nothing back to itself but by IN_PORT.
  must({add_rule(0, 10, from("a"), apply({output(number("l"))})),
        add_rule(0, 10, from_local(), apply({output(port_local)}))});
  ASSERT_TRUE(a.send(frame_));
  ASSERT_TRUE(l.send(frame_));
  EXPECT_TRUE(eventually([&] { return drops("no_port") == 1 && drops("own_port") == 1; }));
  must({add_rule(0, 10, from_local(), apply({output(pipeline::port_in_port)}))});
  ASSERT_TRUE(l.send(frame_));
  EXPECT_EQ(l.receive(), frame_);
}

TEST_F(local_port_test, floods_take_it_along) {
  auto& a = access("a");
  auto& l = local("l");
  auto& b = access("b");
  for (const pipeline::port_no to : {pipeline::port_flood, pipeline::port_all}) {
    clear();
    must({add_rule(0, 0, {}, apply({output(to)}))});
    ASSERT_TRUE(a.send(frame_));
    EXPECT_EQ(l.receive(), frame_);
    EXPECT_EQ(b.receive(), frame_);
    ASSERT_TRUE(l.send(frame_));
    EXPECT_EQ(a.receive(), frame_);
    EXPECT_EQ(b.receive(), frame_);
    EXPECT_TRUE(l.silent());
  }
}

TEST_F(local_port_test, the_l2_switch_knows_it_like_any_other) {
  auto& a = access("a");
  auto& l = local("l");
  auto& b = access("b");
  // In the short way of a bridge that is nothing but an L2 switch, and by rules.
  for (const bool by_rules : {false, true}) {
    if (by_rules) must({add_rule(0, 10, from("b"), apply({output(port_local)}))});
    ASSERT_TRUE(l.send(make_frame(broadcast, host(9))));
    EXPECT_TRUE(a.receive() && b.receive());
    ASSERT_TRUE(learned(1, host(9), "l"));
    const frame_bytes to_it = make_frame(host(9), host(1));
    ASSERT_TRUE(a.send(to_it));
    EXPECT_EQ(l.receive(), to_it);
    EXPECT_TRUE(b.silent());
    const auto set = [&](bool no_fwd) {
      ASSERT_TRUE(owner().change_port(port_local, [&](auto& one) { one.no_fwd = no_fwd; }));
      owner().settle();
    };
    const std::uint64_t before = count("a", "drop_no_fwd");
    set(true);
    ASSERT_TRUE(a.send(to_it));
    EXPECT_TRUE(counts("a", "drop_no_fwd", before + 1));
    EXPECT_TRUE(l.silent());
    set(false);
  }
}

TEST_F(local_port_test, the_controller_sees_and_sends_by_it) {
  auto& a = access("a");
  auto& l = local("l");
  clear();
  std::mutex mutex;
  std::vector<packet_in> seen;
  owner().set_sink([&](const packet_in& one) {
    const std::lock_guard hold(mutex);
    seen.push_back(one);
  });
  must({add_rule(0, 10, from_local(), apply({act::output{pipeline::port_controller, 0xffff}}))});
  ASSERT_TRUE(l.send(frame_));
  ASSERT_TRUE(eventually([&] {
    const std::lock_guard hold(mutex);
    return seen.size() == 1;
  }));
  EXPECT_EQ(seen[0].in_port, port_local);
  owner().set_sink({});
  // Out of it; and in by it, which is then where they do not go back to, and count.
  ASSERT_TRUE(owner().send({pipeline::port_controller, frame_, {output(port_local)}}));
  EXPECT_EQ(l.receive(), frame_);
  ASSERT_TRUE(owner().send({port_local, frame_, {output(pipeline::port_all)}}));
  EXPECT_EQ(a.receive(), frame_);
  EXPECT_TRUE(counts("l", "from_controller", 1));
  const frame_bytes flood = make_frame(broadcast, host(5));
  ASSERT_TRUE(owner().send({port_local, flood, {output(pipeline::port_normal)}}));
  EXPECT_EQ(a.receive(), flood);
  ASSERT_TRUE(learned(1, host(5), "l"));
  EXPECT_TRUE(l.silent());
}

TEST_F(local_port_test, a_group_watches_it) {
  auto& a = access("a");
  auto& l = local("l");
  auto& c = access("c");
  clear();
  must({pipeline::test::add_group(1, pipeline::group_type::fast_failover,
                                  {pipeline::test::to({output(port_local)}, 0, port_local),
                                   pipeline::test::to({output(number("c"))}, 0, number("c"))}),
        add_rule(0, 0, {}, apply({act::group{1}}))});
  ASSERT_TRUE(a.send(frame_));
  EXPECT_EQ(l.receive(), frame_);
  l.set_link(false);
  ASSERT_TRUE(eventually([&] {
    return owner().read([&](const pipeline::running_bridge& all) {
      return !all.model().find_port(port_local)->live;
    });
  }));
  ASSERT_TRUE(a.send(frame_));
  EXPECT_EQ(c.receive(), frame_);
}

TEST_F(local_port_test, without_one_local_leads_nowhere) {
  auto& a = access("a");
  clear();
  must({add_rule(0, 10, {}, apply({output(port_local)})),
        add_rule(0, 11, from_local(), apply({output(number("a"))}))});
  ASSERT_TRUE(a.send(frame_));
  EXPECT_TRUE(eventually([&] { return drops("no_port") == 1; }));
  const auto refused = owner().send({port_local, frame_, {output(number("a"))}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, pipeline::of_error::bad_request_bad_port);
  // It comes and goes under the rules.
  auto& l = local("l");
  ASSERT_TRUE(eventually([&] { return numbers().size() == 2; }));
  ASSERT_TRUE(a.send(frame_));
  EXPECT_EQ(l.receive(), frame_);
  ASSERT_TRUE(switch_->remove_port("l"));
  ASSERT_TRUE(eventually([&] { return numbers() == std::vector{number("a")}; }));
  ASSERT_TRUE(a.send(frame_));
  EXPECT_TRUE(eventually([&] { return drops("no_port") == 2; }));
}

TEST_F(local_port_test, a_bridge_has_one_at_most) {
  auto& l = local("l");
  rings_["m"] = std::make_unique<test_ring_port>("m");
  const auto second = switch_->add_port(local_config("m"));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, errc::exists);
  EXPECT_NE(second.error().message().find("bridge br0 has a local port, l"), std::string::npos)
      << second.error().message();
  // Whether it is one is said when it comes.
  port_config other = local_config("l");
  other.local = false;
  const auto changed = switch_->update_port(other);
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().code, errc::unsupported);
  port_config mirror = local_config("m");
  mirror.mirror.received = {"l"};
  const auto refused = switch_->add_port(mirror);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::invalid);
  // Another bridge has its own: two that know nothing of each other.
  bridge_config br1;
  br1.name = "br1";
  ASSERT_TRUE(switch_->add_bridge(br1));
  add(local_config("m", "br1"));
  auto& a = access("a");
  clear();
  must({add_rule(0, 10, from("a"), apply({output(port_local)}))});
  ASSERT_TRUE(a.send(frame_));
  EXPECT_EQ(l.receive(), frame_);
  EXPECT_TRUE(rings_["m"]->silent());
  // One that has gone makes place.
  ASSERT_TRUE(switch_->remove_port("l"));
  ASSERT_TRUE(eventually([&] { return numbers() == std::vector{number("a")}; }));
  rings_["n"] = std::make_unique<test_ring_port>("n");
  add(local_config("n"));
  ASSERT_TRUE(eventually([&] { return numbers() == std::vector{number("a"), port_local}; }));
  ASSERT_TRUE(a.send(frame_));
  EXPECT_EQ(rings_["n"]->receive(), frame_);
}

}  // namespace
}  // namespace coua::dp
