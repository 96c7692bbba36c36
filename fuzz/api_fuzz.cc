// SPDX-License-Identifier: Apache-2.0
//
// Requests as any client of the API could send them, through a real socket to the real server
// before a switch in memory. Methods and fields are found by their descriptions, so what is added
// to proto/ is tried without a word here. What the rules of the API (proto/coua/v1/common.proto)
// promise holds for each call:
//
//   it ends, and no other way than with OK or an error that says where and what;
//   a refused one leaves the configuration, the rules, the groups and the meters as they were;
//   one that changed something says `changed: false` when it is made again.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "coua/v1/capture.pb.h"
#include "coua/v1/common.pb.h"
#include "coua/v1/config.pb.h"
#include "coua/v1/fib.pb.h"
#include "coua/v1/flow.pb.h"
#include "coua/v1/port.pb.h"
#include "coua/v1/system.pb.h"
#include "ctl/api_server.h"
#include "ctl/fake_bridges.h"
#include "ctl/fake_switch.h"
#include "ctl/running_config.h"
#include "fuzz.h"
#include "message_filler.h"

namespace coua::ctl {
namespace {

using google::protobuf::Message;
using google::protobuf::MethodDescriptor;

constexpr unsigned calls_most = 6;
constexpr unsigned sent_most = 3;  // messages of a call that streams
constexpr unsigned read_most = 3;
constexpr std::chrono::seconds patience{30};

constexpr std::array<std::string_view, 48> words = {
    "",
    "p0",
    "p1",
    "p2",
    "pipeline",
    "net_null0",
    "net_null7,size=64",
    "net_tap3,iface=t3",
    "02:00:00:00:00:01",
    "01:80:c2:00:00:00",
    "ff:ff:ff:ff:ff:ff",
    "2:0:0:0:0:1",
    "debug",
    "coua.fib",
    "any",
    "runt",
    "drop_tx_full",
    "tcp port 80",
    "ip6 and",
    "coua",
    "br0",
    "f.yaml",
    "priority=5,in_port=p0,actions=NORMAL",
    "flow add table=1,priority=7,tcp,nw_dst=10.0.0.0/8,tp_dst=80,actions=output:p1",
    "flow delete table=1",
    "modify_strict priority=5,in_port=p0,actions=drop",
    "table=0,actions=resubmit(,1),group:1",
    "priority=2,ip,actions=meter:1,dec_ttl,output:2",
    "group add group_id=1,type=all,bucket=output:p0,bucket=output:p1",
    "group delete group_id=1",
    "meter add meter=1,kbps,band=type=drop,rate=1",
    "# nothing",
    "table=1",
    "tcp,out_port=2",
    "cookie=0x1/-1",
    "icmp,nw_src=10.0.0.1",
    "in_port=p0,dl_src=02:00:00:00:00:01,dl_dst=ff:ff:ff:ff:ff:ff,dl_type=0x800",
    "{}",
    "ports:\n  - {name: p0, devargs: net_null0, vlan: 10}\n",
    "ports:\n  - {name: p2, devargs: net_null2, native_vlan: 4, tagged: [5, 7-9]}\n",
    "fib: {ageing_s: 30}\n",
    "fib: {ageing_s: 1}\n",
    "fib:\n  static:\n    - {vlan: 10, mac: \"02:00:00:00:00:09\", port: p0}\n",
    "log: {level: debug}\n",
    "ports: [",
    "\xff\xfe",
    "workers: {cores: [1]}\n",
    "metrics: {listen: \"127.0.0.1:9107\"}\n",
};

std::vector<const MethodDescriptor*> all_methods() {
  std::vector<const MethodDescriptor*> made;
  for (const auto* file :
       {v1::CaptureRequest::descriptor()->file(), v1::GetConfigRequest::descriptor()->file(),
        v1::FibBatch::descriptor()->file(), v1::FlowBatch::descriptor()->file(),
        v1::AddPortRequest::descriptor()->file(), v1::GetStatsRequest::descriptor()->file()}) {
    for (int s = 0; s < file->service_count(); ++s)
      for (int m = 0; m < file->service(s)->method_count(); ++m)
        made.push_back(file->service(s)->method(m));
  }
  return made;
}

std::unique_ptr<Message> make_message(const google::protobuf::Descriptor& type) {
  const auto* like = google::protobuf::MessageFactory::generated_factory()->GetPrototype(&type);
  COUA_CHECK(like != nullptr);
  return std::unique_ptr<Message>(like->New());
}

struct answer {
  grpc::Status status;
  v1::Error detail;
  std::unique_ptr<Message> message;  // the last; null: none came
  bool cancelled = false;            // by the client
};

/// A server, and its one client, for all inputs: to start one takes longer than a hundred calls.
class bench {
 public:
  bench()
      : path_("/tmp/coua-fuzz-" + std::to_string(getpid()) + ".sock"),
        running_(switch_, bridges_, {}) {
    switch_.on_capture([this](const dp::capture_spec&) {
      dp::captured_packet one;
      one.length = sizeof frame_;
      one.bytes = frame_;
      return fake_switch::packets{one};
    });
    auto claim = socket_claim::take(path_);
    COUA_CHECK(claim.has_value());
    const api_params params;
    fakes_.give("br0", pipeline_);
    COUA_CHECK(running_.start_bridges({}).has_value());
    auto server = api_server::create(switch_, running_, std::move(*claim), params);
    COUA_CHECK(server.has_value());
    server_ = std::move(*server);
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    stub_ = std::make_unique<grpc::GenericStub>(
        grpc::CreateCustomChannel("unix:" + path_, grpc::InsecureChannelCredentials(), arguments));
  }

  ~bench() {
    queue_.Shutdown();
    stub_.reset();
    server_.reset();
  }

  /// Two ports and nothing else, as at the start of each input.
  void reset() {
    static const auto start = parse_config(
        "ports:\n"
        "  - {name: p0, devargs: net_null0, vlan: 10}\n"
        "  - {name: p1, devargs: net_null1, vlan: 10}\n",
        "start");
    COUA_CHECK(start.has_value());
    COUA_CHECK(running_.apply(*start).has_value());
    COUA_CHECK(switch_.fib_flush({}).has_value());
    pipeline::rule_mod rules;
    rules.command = pipeline::rule_command::remove;
    rules.table = pipeline::table_all;
    pipeline::group_mod groups;
    groups.command = pipeline::mod_command::remove;
    groups.what.id = pipeline::group_all;
    pipeline::meter_mod meters;
    meters.command = pipeline::mod_command::remove;
    meters.what.id = pipeline::meter_all;
    const std::vector<pipeline::operation> bundle = {rules, groups, meters};
    COUA_CHECK(pipeline_.apply(bundle).has_value());
  }

  answer call(const MethodDescriptor& method,
              const std::vector<std::unique_ptr<Message>>& requests) {
    answer made;
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + patience);
    const auto one = stub_->PrepareCall(
        &context, "/" + method.service()->full_name() + "/" + method.name(), &queue_);
    one->StartCall(this);
    bool good = done();
    for (const auto& each : requests) {
      if (!good) break;
      const grpc::Slice slice(each->SerializeAsString());
      const grpc::ByteBuffer bytes(&slice, 1);
      one->Write(bytes, this);
      good = done();
    }
    if (good) {
      one->WritesDone(this);
      good = done();
    }
    for (unsigned n = 0; good; ++n) {
      if (n == read_most) {
        context.TryCancel();
        made.cancelled = true;
      }
      grpc::ByteBuffer bytes;
      one->Read(&bytes, this);
      good = done();
      if (!good) break;
      made.message = make_message(*method.output_type());
      grpc::Slice slice;
      COUA_CHECK(bytes.DumpToSingleSlice(&slice).ok());
      COUA_CHECK(made.message->ParseFromArray(slice.begin(), static_cast<int>(slice.size())));
    }
    one->Finish(&made.status, this);
    COUA_CHECK(done());
    const auto& trailer = context.GetServerTrailingMetadata();
    if (const auto found = trailer.find("coua-error-bin"); found != trailer.end())
      COUA_CHECK(
          made.detail.ParseFromArray(found->second.data(), static_cast<int>(found->second.size())));
    return made;
  }

  /// What a refused call must not change.
  std::string state() {
    const auto text = running_.print(config_format::yaml);
    COUA_CHECK(text.has_value());
    // What is changed is another object.
    std::string objects;
    const auto add = [&](const void* each) {
      objects += " " + std::to_string(reinterpret_cast<std::uintptr_t>(each));
    };
    pipeline_.dump_rules({}, [&](const auto& part) {
      for (const rule_record& each : part) add(each.rule.get());
      return true;
    });
    for (const group_record& each : pipeline_.groups()) add(each.group.get());
    for (const meter_record& each : pipeline_.meters()) add(each.meter.get());
    return *text + "# rules, groups, meters:" + objects;
  }

 private:
  bool done() {
    void* tag = nullptr;
    bool good = false;
    COUA_CHECK(queue_.Next(&tag, &good));
    return good;
  }

  const std::string path_;
  const std::uint8_t frame_[60] = {};
  fake_switch switch_;
  fake_pipeline pipeline_;  // of br0
  running_bridges bridges_{switch_};
  fake_bridges fakes_{bridges_};
  running_config running_;
  std::unique_ptr<api_server> server_;
  std::unique_ptr<grpc::GenericStub> stub_;
  grpc::CompletionQueue queue_;
};

/// A call that may have done a part of it when it is refused.
bool stays_in_part(const MethodDescriptor& method) { return method.name() == "LoadFib"; }

/// One for which rule 2 holds.
bool says_changed(const MethodDescriptor& method) {
  return method.output_type()->FindFieldByName("changed") != nullptr &&
         method.name() != "ApplyFlows";
}

bool is_changed(const Message& one) {
  return one.GetReflection()->GetBool(one, one.GetDescriptor()->FindFieldByName("changed"));
}

void check_end(const answer& one) {
  if (one.status.ok() || (one.cancelled && one.status.error_code() == grpc::CANCELLED)) return;
  if (one.detail.where().empty() || one.detail.what().empty())
    std::fprintf(stderr, "status %d: %s\n", one.status.error_code(),
                 one.status.error_message().c_str());
  COUA_CHECK(!one.detail.where().empty() && !one.detail.what().empty());
  COUA_CHECK(one.detail.code() != v1::Error::CODE_UNSPECIFIED);
  COUA_CHECK(one.status.error_message() == one.detail.where() + ": " + one.detail.what());
}

void run(fuzz::input& from) {
  static const std::vector<const MethodDescriptor*> methods = all_methods();
  static bench with;
  with.reset();
  for (unsigned n = 0; n < calls_most && !from.empty(); ++n) {
    const MethodDescriptor& method = *methods[from.take<std::uint8_t>() % methods.size()];
    std::vector<std::unique_ptr<Message>> requests;
    do {
      requests.push_back(make_message(*method.input_type()));
      fuzz::fill(*requests.back(), from, words);
    } while (method.client_streaming() && requests.size() < sent_most && !from.empty());
    const std::string before = with.state();
    const answer first = with.call(method, requests);
    check_end(first);
    if (!first.status.ok() && !stays_in_part(method)) COUA_CHECK(with.state() == before);
    if (!first.status.ok() || !says_changed(method)) continue;
    const bool changed = is_changed(*first.message);
    const std::string after = with.state();
    if (!changed) COUA_CHECK(after == before);
    const answer second = with.call(method, requests);
    check_end(second);
    COUA_CHECK(second.status.ok() && !is_changed(*second.message));
    COUA_CHECK(with.state() == after);
  }
}

}  // namespace
}  // namespace coua::ctl

// gRPC leaves a closure behind now and then, when a call that is over is cancelled.
extern "C" const char* __lsan_default_suppressions() {  // NOLINT(bugprone-reserved-identifier)
  return "leak:grpc_core::FilterStackCall::CancelWithError\n";
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  coua::fuzz::input from(data, size);
  coua::ctl::run(from);
  return 0;
}
