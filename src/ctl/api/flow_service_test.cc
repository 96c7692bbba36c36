// SPDX-License-Identifier: Apache-2.0
//
// Rules, groups and meters over the API, before a model without packets.
#include <atomic>
#include <chrono>
#include <thread>

#include "ctl/api/test_api.h"

namespace coua::ctl {
namespace {

using request = v1::ApplyFlowsRequest;

class flow_api : public api {
 protected:
  std::string bridge_name_;
  /// What a call answers: "3 operations, 2 changes", or "where: what".
  std::string apply(const std::string& text, request::Kind kind = request::KIND_FLOW,
                    request::Command command = request::COMMAND_ADD,
                    grpc::StatusCode* code = nullptr, std::size_t piece = 1'000'000) {
    grpc::ClientContext context;
    v1::ApplyFlowsResponse response;
    const auto stream = flows_->ApplyFlows(&context, &response);
    for (std::size_t at = 0; at == 0 || at < text.size(); at += piece) {
      request one;
      one.set_text(text.substr(at, piece));
      one.set_last(at + piece >= text.size());
      if (at == 0) {
        one.set_kind(kind);
        one.set_command(command);
        one.set_bridge(bridge_name_);
      }
      if (!stream->Write(one)) break;
    }
    stream->WritesDone();
    const grpc::Status status = stream->Finish();
    if (code != nullptr) *code = status.error_code();
    if (!status.ok()) {
      const v1::Error error = detail(status, context);
      return error.where() + ": " + error.what();
    }
    EXPECT_EQ(response.changed(), response.changes() + response.renewed() > 0);
    return std::to_string(response.operations()) + " operations, " +
           std::to_string(response.changes()) + " changes" +
           (response.renewed() == 0 ? "" : ", " + std::to_string(response.renewed()) + " renewed");
  }

  std::vector<v1::Flow> flows(const std::string& filter = "", std::uint64_t limit = 0) {
    grpc::ClientContext context;
    v1::DumpFlowsRequest asked;
    asked.set_filter(filter);
    asked.set_limit(limit);
    asked.set_bridge(bridge_name_);
    const auto stream = flows_->DumpFlows(&context, asked);
    std::vector<v1::Flow> all;
    v1::FlowBatch batch;
    while (stream->Read(&batch)) all.insert(all.end(), batch.flows().begin(), batch.flows().end());
    last_ = stream->Finish();
    return all;
  }

  grpc::Status last_;
};

TEST_F(flow_api, an_operation_waits_for_who_changes_the_configuration) {
  auto hold = running_.changing();
  std::atomic<bool> done{false};
  std::thread one([&] {
    EXPECT_EQ(apply("actions=drop"), "1 operations, 1 changes");
    done = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_FALSE(done);
  EXPECT_TRUE(flows().empty());  // who looks does not wait
  hold.unlock();
  one.join();
  EXPECT_EQ(flows().size(), 1u);
}

TEST_F(flow_api, a_rule_comes_changes_and_goes) {
  EXPECT_EQ(apply("priority=5,tcp actions=output:2"), "1 operations, 1 changes");
  EXPECT_EQ(apply("priority=5,tcp actions=output:2"), "1 operations, 0 changes");
  EXPECT_EQ(apply("tcp actions=output:p2", request::KIND_FLOW, request::COMMAND_MODIFY),
            "1 operations, 1 changes");
  auto all = flows();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].text(),
            "cookie=0x0, duration=0s, table=0, n_packets=0, n_bytes=0, priority=5,tcp "
            "actions=output:p2");
  EXPECT_EQ(apply("priority=4,tcp", request::KIND_FLOW, request::COMMAND_DELETE_STRICT),
            "1 operations, 0 changes");
  EXPECT_EQ(apply("priority=5,tcp", request::KIND_FLOW, request::COMMAND_DELETE_STRICT),
            "1 operations, 1 changes");
  EXPECT_TRUE(flows().empty());
}

TEST_F(flow_api, what_begins_anew_is_counted) {
  const std::string timed = "priority=5,idle_timeout=10,tcp actions=output:2";
  const std::string cleared = "reset_counts,udp actions=output:2";
  EXPECT_EQ(apply(timed + "\n" + cleared + "\nip actions=1\n"), "3 operations, 3 changes");
  pipeline_.set_now(1'000'000'000);
  EXPECT_EQ(apply(timed), "1 operations, 0 changes, 1 renewed");
  EXPECT_EQ(apply(cleared), "1 operations, 0 changes, 1 renewed");
  EXPECT_EQ(apply("ip actions=1"), "1 operations, 0 changes");
  // Instructions only: the time-outs run on.
  pipeline_.set_now(2'000'000'000);
  EXPECT_EQ(apply("tcp actions=output:2", request::KIND_FLOW, request::COMMAND_MODIFY),
            "1 operations, 0 changes");
  ASSERT_EQ(apply("group_id=1,type=all,bucket=1", request::KIND_GROUP), "1 operations, 1 changes");
  EXPECT_EQ(apply("group_id=1,type=all,bucket=1", request::KIND_GROUP, request::COMMAND_MODIFY),
            "1 operations, 0 changes, 1 renewed");
}

TEST_F(flow_api, a_dump_has_numbers_and_takes_a_filter) {
  pipeline_.set_now(1'000'000'000);
  ASSERT_EQ(apply("table=1,priority=7,cookie=0x5,tcp actions=1\npriority=3,udp actions=2\n"),
            "2 operations, 2 changes");
  pipeline_.change([](pipeline::bridge& model) {
    const auto* rule = model.tables()[1].find(7, ofp::parse_filter("tcp")->match);
    ASSERT_NE(rule, nullptr);
    model.count_rule(rule->rule->id, {3, 180}, 2'000'000'000);
  });
  pipeline_.set_now(4'500'000'000);
  const auto one = flows("table=1");
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].table(), 1u);
  EXPECT_EQ(one[0].priority(), 7u);
  EXPECT_EQ(one[0].cookie(), 5u);
  EXPECT_EQ(one[0].packets(), 3u);
  EXPECT_EQ(one[0].bytes(), 180u);
  EXPECT_EQ(one[0].duration_ns(), 3'500'000'000u);
  EXPECT_EQ(one[0].idle_ns(), 2'500'000'000u);
  EXPECT_EQ(flows("udp").size(), 1u);
  EXPECT_EQ(flows("out_port=p0").size(), 1u);
  EXPECT_EQ(flows("ip").size(), 2u);
  EXPECT_EQ(flows("", 1).size(), 1u);
  flows("foo=1");
  EXPECT_EQ(last_.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(last_.error_message(), "filter: unknown keyword foo");
}

TEST_F(flow_api, a_bundle_is_done_as_a_whole_or_names_its_line) {
  grpc::StatusCode code;
  EXPECT_EQ(apply("group group_id=1,type=all,bucket=1\n"
                  "# a comment\n"
                  "meter meter=2,kbps,band=type=drop,rate=5\n"
                  "add tcp actions=meter:2,group:1\n"
                  "add udp actions=group:9\n",
                  request::KIND_FLOW, request::COMMAND_ADD, &code),
            "line 5: table=0,priority=32768,dl_type=0x800,nw_proto=17: group:9: there is no such "
            "group");
  EXPECT_EQ(code, grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(
      apply("actions=1\nactions=ct(commit)\n", request::KIND_FLOW, request::COMMAND_ADD, &code),
      "line 2: ct: the switch has no such action");
  EXPECT_EQ(code, grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(apply("foo=1 actions=1\n"), "flow: unknown keyword foo");
  EXPECT_TRUE(flows().empty());
  const auto stats = good(*flows_, &v1::FlowService::Stub::GetFlowStats, v1::GetFlowStatsRequest());
  EXPECT_EQ(stats.groups() + stats.meters() + stats.flows(), 0u);
}

TEST_F(flow_api, a_large_bundle_comes_in_pieces_and_a_large_dump_in_batches) {
  std::string text;
  for (unsigned i = 0; i < 3'000; ++i) {
    text += "table=" + std::to_string(i % 3) + ",ip,nw_dst=10.0." + std::to_string(i / 256) + "." +
            std::to_string(i % 256) + " actions=1\n";
  }
  EXPECT_EQ(apply(text, request::KIND_FLOW, request::COMMAND_ADD, nullptr, 777),
            "3000 operations, 3000 changes");
  EXPECT_EQ(flows().size(), 3'000u);
  EXPECT_EQ(flows("", 1'500).size(), 1'500u);
  const auto stats = good(*flows_, &v1::FlowService::Stub::GetFlowStats, v1::GetFlowStatsRequest());
  EXPECT_EQ(stats.flows(), 3'000u);
  ASSERT_EQ(stats.tables_size(), 3);
  EXPECT_EQ(stats.tables(2).table(), 2u);
  EXPECT_EQ(stats.tables(2).flows(), 1'000u);
}

TEST_F(flow_api, groups_and_meters_are_shown) {
  ASSERT_EQ(apply("group_id=1,type=select,bucket=1,bucket=weight:3,output:p1\n"
                  "group_id=2,type=all",
                  request::KIND_GROUP),
            "2 operations, 2 changes");
  ASSERT_EQ(apply("meter=7,pktps,band=type=drop,rate=5", request::KIND_METER),
            "1 operations, 1 changes");
  ASSERT_EQ(apply("actions=meter:7,group:1"), "1 operations, 1 changes");
  pipeline_.change([](pipeline::bridge& model) {
    model.count_group(1, {3, 180});
    model.count_bucket(1, 1, {2, 120});
    model.count_meter(7, {4, 240});
    model.count_band(7, 0, {1, 60});
  });
  grpc::ClientContext context;
  v1::DumpGroupsRequest asked;
  asked.set_group_id(1);
  v1::GroupBatch groups;
  auto stream = flows_->DumpGroups(&context, asked);
  ASSERT_TRUE(stream->Read(&groups));
  ASSERT_EQ(groups.groups_size(), 1);
  const v1::Group& group = groups.groups(0);
  EXPECT_EQ(group.type(), "select");
  EXPECT_EQ(group.total().packets(), 3u);
  EXPECT_EQ(group.buckets(1).bytes(), 120u);
  EXPECT_EQ(group.references(), 1u);
  EXPECT_EQ(group.text(),
            "group_id=1,type=select,bucket=actions=output:p0,bucket=weight:3,actions=output:p1");
  EXPECT_NE(group.stats_text().find("bucket1:packet_count=2,byte_count=120"), std::string::npos);
  EXPECT_FALSE(stream->Read(&groups));
  EXPECT_TRUE(stream->Finish().ok());
  grpc::ClientContext other;
  v1::MeterBatch meters;
  auto second = flows_->DumpMeters(&other, {});
  ASSERT_TRUE(second->Read(&meters));
  ASSERT_EQ(meters.meters_size(), 1);
  EXPECT_EQ(meters.meters(0).text(), "meter=7 pktps bands= type=drop rate=5");
  EXPECT_EQ(meters.meters(0).flows(), 1u);
  EXPECT_EQ(meters.meters(0).bands(0).packets(), 1u);
  EXPECT_TRUE(second->Finish().ok());
}

TEST_F(flow_api, groups_and_meters_come_in_pages) {
  std::string groups, meters;
  for (int i = 1; i <= 300; ++i) {
    const std::string id = std::to_string(2 * i);
    groups += "group_id=" + id + ",type=" + (i % 3 == 0 ? "all" : "select") + ",bucket=1\n";
    meters += "meter=" + id + ",pktps,band=type=drop,rate=5\n";
  }
  ASSERT_EQ(apply(groups, request::KIND_GROUP), "300 operations, 300 changes");
  ASSERT_EQ(apply(meters, request::KIND_METER), "300 operations, 300 changes");
  ASSERT_EQ(apply("actions=meter:4,group:2"), "1 operations, 1 changes");
  using ids = std::vector<std::uint32_t>;
  const auto groups_of = [&](const v1::DumpGroupsRequest& asked) {
    grpc::ClientContext context;
    ids found;
    auto stream = flows_->DumpGroups(&context, asked);
    for (v1::GroupBatch batch; stream->Read(&batch);)
      for (const v1::Group& one : batch.groups()) found.push_back(one.group_id());
    EXPECT_TRUE(stream->Finish().ok());
    return found;
  };
  const auto meters_of = [&](const v1::DumpMetersRequest& asked) {
    grpc::ClientContext context;
    ids found;
    auto stream = flows_->DumpMeters(&context, asked);
    for (v1::MeterBatch batch; stream->Read(&batch);)
      for (const v1::Meter& one : batch.meters()) found.push_back(one.meter_id());
    EXPECT_TRUE(stream->Finish().ok());
    return found;
  };
  v1::DumpGroupsRequest some;
  EXPECT_EQ(groups_of(some).size(), 300u);
  some.set_first(501);
  some.set_limit(2);
  EXPECT_EQ(groups_of(some), (ids{502, 504}));
  some.set_type("all");
  EXPECT_EQ(groups_of(some), (ids{504, 510}));
  some = {};
  some.set_limit(2);
  some.set_unused(true);
  EXPECT_EQ(groups_of(some), (ids{4, 6}));
  ASSERT_EQ(apply("group_id=1000,type=indirect,bucket=group:4", request::KIND_GROUP),
            "1 operations, 1 changes");
  EXPECT_EQ(groups_of(some), (ids{6, 8})) << "a group leads to the other one";
  some.set_group_id(7);
  EXPECT_EQ(groups_of(some), ids{});
  some.set_group_id(8);
  EXPECT_EQ(groups_of(some), ids{8});
  v1::DumpMetersRequest others;
  EXPECT_EQ(meters_of(others).size(), 300u);
  others.set_first(3);
  others.set_limit(2);
  EXPECT_EQ(meters_of(others), (ids{4, 6}));
  others.set_unused(true);
  EXPECT_EQ(meters_of(others), (ids{6, 8}));
  others.set_meter_id(600);
  EXPECT_EQ(meters_of(others), ids{600});
  some.set_type("any");
  grpc::ClientContext context;
  EXPECT_EQ(flows_->DumpGroups(&context, some)->Finish().error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(flow_api, an_answer_waits_for_the_workers) {
  const unsigned before = pipeline_.n_settled();
  EXPECT_EQ(apply("tcp actions=1"), "1 operations, 1 changes");
  EXPECT_EQ(pipeline_.n_settled(), before + 1);
  EXPECT_EQ(apply("tcp actions=1"), "1 operations, 0 changes");
  EXPECT_EQ(pipeline_.n_settled(), before + 1);
  pipeline_.is_slow = true;
  EXPECT_EQ(apply("udp actions=1"),
            "flows: it is done, but there is a worker that does not run it yet");
}

TEST_F(flow_api, what_openflow_refuses_has_its_status) {
  grpc::StatusCode code;
  apply("group_id=1,type=all", request::KIND_GROUP);
  apply("group_id=1,type=all", request::KIND_GROUP, request::COMMAND_ADD, &code);
  EXPECT_EQ(code, grpc::StatusCode::ALREADY_EXISTS);
  apply("group_id=9,type=all", request::KIND_GROUP, request::COMMAND_MODIFY, &code);
  EXPECT_EQ(code, grpc::StatusCode::NOT_FOUND);
  apply("meter=9,kbps,band=type=drop,rate=1", request::KIND_METER, request::COMMAND_MODIFY, &code);
  EXPECT_EQ(code, grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(apply("group_id=1", request::KIND_GROUP, request::COMMAND_DELETE_STRICT, &code),
            "command: groups and meters have no such command");
  EXPECT_EQ(apply("x", static_cast<request::Kind>(9)), "kind: there is no such kind");
  EXPECT_EQ(apply("x", request::KIND_FLOW, static_cast<request::Command>(9)),
            "command: there is no such command");
}

TEST_F(flow_api, a_client_that_goes_leaves_nothing_behind) {
  grpc::ClientContext context;
  v1::ApplyFlowsResponse response;
  auto stream = flows_->ApplyFlows(&context, &response);
  request one;
  one.set_text("actions=1\n");
  ASSERT_TRUE(stream->Write(one));
  context.TryCancel();
  EXPECT_FALSE(stream->Finish().ok());
  server_.reset();
  EXPECT_EQ(pipeline_.status().rules, 0u);
}

TEST_F(flow_api, a_bundle_that_was_cut_off_is_not_done) {
  grpc::ClientContext context;
  v1::ApplyFlowsResponse response;
  const auto stream = flows_->ApplyFlows(&context, &response);
  request one;
  one.set_text("actions=1\n");
  ASSERT_TRUE(stream->Write(one));
  stream->WritesDone();
  const grpc::Status status = stream->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(detail(status, context).where(), "last");
  EXPECT_EQ(pipeline_.status().rules, 0u);
}

TEST_F(flow_api, a_trace_tells_the_way_of_a_packet) {
  ASSERT_EQ(
      apply("flow table=0,priority=10,tcp,in_port=p0 actions=dec_ttl,goto_table:1\n"
            "flow table=1,tcp,tp_dst=80 actions=set_field:00:00:00:00:00:09->eth_dst,output:p1\n"
            "flow table=1,priority=1 actions=CONTROLLER:64\n"),
      "3 operations, 3 changes");
  const auto trace = [&](const std::string& packet, v1::TracePacketResponse& out) {
    v1::TracePacketRequest asked;
    asked.set_bridge("br0");
    asked.set_packet(packet);
    grpc::ClientContext context;
    const grpc::Status status = flows_->TracePacket(&context, asked, &out);
    return status.ok() ? std::string() : detail(status, context).what();
  };
  v1::TracePacketResponse got;
  ASSERT_EQ(trace("in_port=p0,tcp,nw_ttl=7,tp_dst=80", got), "");
  ASSERT_GE(got.lines_size(), 3);
  EXPECT_EQ(got.lines(0).table(), 0u);
  EXPECT_EQ(got.lines(0).table_template(), "direct");
  EXPECT_EQ(got.lines(0).text(), "priority=10,tcp,in_port=p0 actions=dec_ttl,goto_table:1");
  ASSERT_EQ(got.outputs_size(), 1);
  EXPECT_EQ(got.outputs(0).to(), "p1");
  EXPECT_EQ(got.lines(got.lines_size() - 2).text(), "output:p1");
  EXPECT_EQ(got.outputs(0).frame()[5], 9);
  EXPECT_NE(got.outputs(0).fields().find("nw_ttl=6"), std::string::npos) << got.outputs(0).fields();
  EXPECT_EQ(got.frame().size(), got.outputs(0).frame().size());
  // All of its bytes, as they were printed.
  std::string hex;
  for (const char each : got.frame()) {
    hex += "0123456789abcdef"[static_cast<unsigned char>(each) >> 4];
    hex += "0123456789abcdef"[each & 15];
  }
  v1::TracePacketResponse again;
  ASSERT_EQ(trace("in_port=p0 " + hex, again), "");
  EXPECT_EQ(again.outputs(0).frame(), got.outputs(0).frame());
  v1::TracePacketResponse punted;
  ASSERT_EQ(trace("in_port=p0,tcp,tp_dst=81", punted), "");
  ASSERT_EQ(punted.outputs_size(), 1);
  EXPECT_EQ(punted.outputs(0).to(), "CONTROLLER");
  EXPECT_EQ(punted.outputs(0).max_len(), 64u);
  apply("flow table=0,arp actions=write_actions(output:p1)\n");
  v1::TracePacketResponse later;
  ASSERT_EQ(trace("in_port=p0,arp", later), "");
  ASSERT_EQ(later.lines_size(), 3);
  EXPECT_EQ(later.lines(1).text(), "action set: output:p1");
  apply(
      "flow table=0,ipv6,in_port=p0 "
      "actions=learn(table=1,in_port=p1,NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[],output:NXM_OF_IN_PORT[])"
      "\n");
  v1::TracePacketResponse learned;
  ASSERT_EQ(trace("in_port=p0,ipv6,dl_src=00:00:00:00:00:05", learned), "");
  ASSERT_GE(learned.lines_size(), 3);
  EXPECT_EQ(learned.lines(1).text(),
            "learn(table=1,in_port=p1,NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[],output:NXM_OF_IN_PORT[])");
  EXPECT_EQ(learned.lines(2).text(),
            "table=1, in_port=p1,dl_dst=00:00:00:00:00:05 actions=output:p0");
  v1::TracePacketResponse lost;
  ASSERT_EQ(trace("in_port=p1,udp", lost), "");
  EXPECT_EQ(lost.outputs_size(), 0);
  for (const v1::Flow& rule : flows()) EXPECT_EQ(rule.packets(), 0u);

  v1::TracePacketResponse none;
  EXPECT_EQ(trace("tcp", none), "say by which port it comes in: in_port=PORT");
  EXPECT_EQ(trace("in_port=77", none), "in_port: there is no port 77");
  EXPECT_NE(trace("in_port=p0,tcp,tp_dst=x", none), "");
  EXPECT_EQ(trace("in_port=p0 tcp,in_port=p1", none), "what comes later says something else");
  EXPECT_EQ(trace("in_port=p0 tcp,in_port=1", none), "");  // the same port
}

TEST_F(flow_api, what_stands_alone_is_traced_and_explained_without_its_rules) {
  apply("flow actions=drop\n");
  pipeline_.set_standalone(true);
  v1::TracePacketRequest packet;
  packet.set_packet("in_port=p0,tcp");
  v1::TracePacketResponse traced;
  v1::ExplainBridgeResponse explained;
  {
    grpc::ClientContext context;
    ASSERT_TRUE(flows_->TracePacket(&context, packet, &traced).ok());
  }
  ASSERT_EQ(traced.lines_size(), 2);
  EXPECT_EQ(traced.lines(0).text(), standalone_text);
  EXPECT_EQ(traced.lines(1).text(), "NORMAL");
  grpc::ClientContext context;
  ASSERT_TRUE(flows_->ExplainBridge(&context, {}, &explained).ok());
  EXPECT_TRUE(explained.standalone());
  EXPECT_EQ(explained.not_predicted(), standalone_text);
  EXPECT_FALSE(explained.has_cycles());
  EXPECT_FALSE(explained.tables(0).has_cycles());
}

TEST_F(flow_api, an_explanation_gives_template_and_reasons) {
  std::string routes = "flow delete\n";
  for (unsigned i = 0; i < 40; ++i) {
    routes += "flow priority=" + std::to_string(16 + i % 2 * 8) + ",ip,nw_dst=10.0." +
              std::to_string(i) + ".0/" + std::to_string(16 + i % 2 * 8) + " actions=output:1\n";
  }
  apply(routes);
  v1::ExplainBridgeRequest asked;
  v1::ExplainBridgeResponse got;
  {
    grpc::ClientContext context;
    ASSERT_TRUE(flows_->ExplainBridge(&context, asked, &got).ok());
  }
  ASSERT_EQ(got.tables_size(), 1);
  EXPECT_EQ(got.tables(0).table_template(), "lpm");
  EXPECT_EQ(got.tables(0).field(), "nw_dst");
  ASSERT_EQ(got.tables(0).refused_size(), 2);
  EXPECT_EQ(got.tables(0).refused(0).table_template(), "direct");
  EXPECT_NE(got.tables(0).refused(0).reason().find("more than 16 rules"), std::string::npos);
  EXPECT_EQ(got.tables(0).visits(), 1);
  EXPECT_EQ(got.tables(0).cycles().lower(), 30);
  EXPECT_EQ(got.tables(0).cycles().upper(), 90);
  EXPECT_EQ(got.cycles().lower(), 50);
  EXPECT_EQ(got.cycles().upper(), 130);
  EXPECT_EQ(got.not_predicted(), "");
  EXPECT_EQ(got.cycles_hz(), 2e9);
  EXPECT_EQ(got.measured().packets(), 100U);
  EXPECT_EQ(got.measured().bursts(), 4U);
  EXPECT_EQ(got.measured().cycles(), 15'000U);
  EXPECT_EQ(got.measured().interrupted(), 1U);
  EXPECT_TRUE(got.measured_since_start());
  {
    grpc::ClientContext context;
    ASSERT_TRUE(flows_->ExplainBridge(&context, asked, &got).ok());
  }
  EXPECT_FALSE(got.has_measured());
  EXPECT_FALSE(got.measured_since_start());
  asked.set_bridge("br7");
  grpc::ClientContext context;
  const grpc::Status status = flows_->ExplainBridge(&context, asked, &got);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(flow_api, several_bridges_have_to_be_told_apart) {
  add_bridge("br1");
  EXPECT_EQ(apply("actions=1"), "bridge: say which one: there are br0, br1");
  flows();
  EXPECT_EQ(last_.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  v1::GetFlowStatsRequest stats;
  EXPECT_EQ(refused(*flows_, &v1::FlowService::Stub::GetFlowStats, stats,
                    grpc::StatusCode::INVALID_ARGUMENT),
            "bridge");
  bridge_name_ = "br1";
  EXPECT_EQ(apply("actions=1\ntcp,actions=2"), "2 operations, 2 changes");
  EXPECT_EQ(flows().size(), 2u);
  stats.set_bridge("br1");
  EXPECT_EQ(good(*flows_, &v1::FlowService::Stub::GetFlowStats, stats).flows(), 2u);
  bridge_name_ = "br0";
  EXPECT_EQ(flows().size(), 0u);
  bridge_name_ = "br2";
  EXPECT_EQ(apply("actions=1"), "bridge br2: there is no such bridge; there are br0, br1");
}

}  // namespace
}  // namespace coua::ctl
