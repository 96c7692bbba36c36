// SPDX-License-Identifier: Apache-2.0
#include "ctl/api/config_service.h"

#include <algorithm>
#include <string>

namespace coua::ctl {
namespace {

v1::ConfigChange::Kind to_kind(change_kind kind) {
  switch (kind) {
    case change_kind::removed: return v1::ConfigChange::KIND_REMOVED;
    case change_kind::replaced: return v1::ConfigChange::KIND_REPLACED;
    case change_kind::changed: return v1::ConfigChange::KIND_CHANGED;
    case change_kind::added: return v1::ConfigChange::KIND_ADDED;
    case change_kind::restart: return v1::ConfigChange::KIND_RESTART;
  }
  return v1::ConfigChange::KIND_UNSPECIFIED;
}

void to_message(const config_change& change, v1::ConfigChange& out) {
  out.set_kind(to_kind(change.kind));
  out.set_item(change.item);
  out.set_line(static_cast<std::uint32_t>(change.line));
  for (const field_change& each : change.fields) {
    auto* field = out.add_fields();
    field->set_name(each.field);
    field->set_before(each.before);
    field->set_after(each.after);
  }
}

/// The file comes in pieces: gRPC takes no message of its size.
class config_apply final : public grpc::ServerReadReactor<v1::ApplyConfigRequest> {
 public:
  config_apply(api_core& core, grpc::CallbackServerContext* context,
               v1::ApplyConfigResponse* response)
      : core_(core), context_(context), response_(response) {
    StartRead(&next_);
  }

  void OnReadDone(bool ok) override {
    if (ok) {
      if (auto taken = collect(); !taken) return Finish(to_status(*context_, taken.error()));
      return StartRead(&next_);
    }
    // The client has sent all, or it is gone, which gRPC may not know yet.
    if (!whole_)
      return Finish(to_status(
          *context_,
          {errc::invalid, "last", "the file is not whole: no message said to be the last"}));
    const bool posted = core_.changes.post([this] {
      const result<void> done =
          core_.stopping ? fail(errc::unavailable, "config", "the daemon is stopping") : apply();
      Finish(done ? grpc::Status::OK : to_status(*context_, done.error()));
    });
    if (!posted) Finish(to_status(*context_, api_core::too_busy()));
  }
  void OnDone() override { delete this; }

 private:
  result<void> collect() {
    if (whole_) return fail(errc::invalid, "last", "there are messages behind the last one");
    whole_ = next_.last();
    if (text_.size() + next_.text().size() > config_bytes_max)
      return fail(errc::invalid, "text", "has more than 64 MiB");
    text_ += next_.text();
    if (any_) return {};
    any_ = true;
    file_ = next_.file();
    mode_ = next_.mode();
    return {};
  }

  result<void> apply() {
    if (!v1::ApplyConfigRequest::Mode_IsValid(mode_))
      return fail(errc::invalid, "mode", std::to_string(mode_) + " is not a mode");
    const auto wanted = parse_config(text_, file_.empty() ? "config" : file_);
    if (!wanted) return tl::unexpected(first_of(wanted.error()));
    const auto changes =
        mode_ == v1::ApplyConfigRequest::MODE_COMPARE
            ? core_.running.difference(*wanted)
            : core_.running.apply(*wanted, mode_ == v1::ApplyConfigRequest::MODE_CHECK);
    if (!changes) return tl::unexpected(changes.error());
    for (const config_change& each : *changes) to_message(each, *response_->add_changes());
    response_->set_changed(mode_ == v1::ApplyConfigRequest::MODE_APPLY && !changes->empty());
    return {};
  }

  error first_of(const std::vector<config_error>& errors) const {
    const config_error& first = errors[0];
    const std::string file = file_.empty() ? "config" : file_;
    error out{errc::invalid, file, first.reason};
    if (first.line > 0) out.where += ":" + std::to_string(first.line);
    if (!first.field.empty()) out.where += ": " + first.field;
    if (errors.size() > 1) out.what += " (and " + std::to_string(errors.size() - 1) + " more)";
    return out;
  }

  api_core& core_;
  grpc::CallbackServerContext* const context_;
  v1::ApplyConfigResponse* const response_;
  v1::ApplyConfigRequest next_;
  std::string text_, file_;
  v1::ApplyConfigRequest::Mode mode_ = v1::ApplyConfigRequest::MODE_APPLY;
  bool any_ = false, whole_ = false;
};

}  // namespace

result<void> config_service::get(const v1::GetConfigRequest& request,
                                 v1::GetConfigResponse& response) {
  if (!v1::GetConfigRequest::Format_IsValid(request.format()))
    return fail(errc::invalid, "format", std::to_string(request.format()) + " is not a format");
  const auto format = request.format() == v1::GetConfigRequest::FORMAT_JSON ? config_format::json
                                                                            : config_format::yaml;
  const auto which =
      request.flows() ? running_config::rules::always : running_config::rules::if_said;
  auto text = core_.running.print(format, which);
  if (!text) return tl::unexpected(text.error());
  response.set_text(std::move(*text));
  response.set_file(core_.running.file());
  if (!request.warnings()) return {};
  auto lost = core_.running.lost_ports(which);
  if (!lost) return tl::unexpected(lost.error());
  for (std::string& each : *lost) response.add_warnings(std::move(each));
  return {};
}

grpc::ServerUnaryReactor* config_service::GetConfig(grpc::CallbackServerContext* context,
                                                    const v1::GetConfigRequest* request,
                                                    v1::GetConfigResponse* response) {
  return core_.run_change(context, [this, request, response] { return get(*request, *response); });
}

grpc::ServerReadReactor<v1::ApplyConfigRequest>* config_service::ApplyConfig(
    grpc::CallbackServerContext* context, v1::ApplyConfigResponse* response) {
  return new config_apply(core_, context, response);
}

}  // namespace coua::ctl
