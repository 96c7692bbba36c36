// SPDX-License-Identifier: Apache-2.0
//
// Bridges without packets and without a network, for tests of what stands above them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "ctl/fake_controllers.h"
#include "ctl/fake_pipeline.h"
#include "ctl/openflow_rules.h"
#include "ctl/running_bridges.h"

namespace coua::ctl {

/// The pipelines of bridges by their names: those that a test gives, else new ones that go with
/// their bridge.
class fake_bridges {
 public:
  explicit fake_bridges(running_bridges& of) {
    of.make_by([this](const std::string& name) { return make(name); });
  }

  void give(const std::string& name, fake_pipeline& pipeline) { given_[name] = &pipeline; }
  /// Whose controllers are told.
  void give(const std::string& name, controller_list& controllers) {
    controllers_[name] = &controllers;
  }
  /// The datapath id that bridges make up from now on, as of the address of a port that each had.
  void make_id(std::uint64_t id) { *made_id_ = id; }
  /// What the next open() answers.
  void refuse_to_open(std::optional<error> e) { refusal_ = std::move(e); }
  bool has_refused() const { return !refusal_; }
  bool is_open(const std::string& name) const {
    const auto at = open_->find(name);
    return at != open_->end() && at->second;
  }

 private:
  class one final : public served_bridge {
   public:
    one(fake_bridges& all, std::string name, fake_pipeline* given)
        : all_(all),
          open_(all.open_),
          made_id_(all.made_id_),
          name_(std::move(name)),
          given_(given) {
      if (given_ == nullptr) own_ = std::make_unique<fake_pipeline>();
    }
    ~one() override { close(); }
    pipeline_control& pipeline() override { return given_ != nullptr ? *given_ : *own_; }
    controller_list& controllers() override {
      const auto at = all_.controllers_.find(name_);
      return at != all_.controllers_.end() ? *at->second : nobody_;
    }
    result<void> open(const openflow_config& how) override {
      if (const auto no = std::exchange(all_.refusal_, {})) return tl::unexpected(*no);
      place_ = place_of(how);
      (*open_)[name_] = true;
      return {};
    }
    void close() override {
      place_ = {};
      (*open_)[name_] = false;
    }
    openflow_place place_of(const openflow_config& how) const override {
      const std::uint64_t made = *made_id_ != 0 ? *made_id_ : datapath_id_of(name_);
      return {how.datapath_id != 0 ? how.datapath_id : made,
              how.management.empty() ? "/run/coua/" + name_ + ".mgmt" : how.management, how.listen};
    }
    openflow_place place() const override { return place_; }

   private:
    fake_bridges& all_;
    const std::shared_ptr<std::map<std::string, bool>> open_;  // it may outlive that
    const std::shared_ptr<const std::uint64_t> made_id_;
    const std::string name_;
    fake_pipeline* const given_;
    std::unique_ptr<fake_pipeline> own_;
    no_controllers nobody_;
    openflow_place place_;
  };

  std::unique_ptr<served_bridge> make(const std::string& name) {
    const auto at = given_.find(name);
    return std::make_unique<one>(*this, name, at != given_.end() ? at->second : nullptr);
  }

  std::map<std::string, fake_pipeline*> given_;
  std::map<std::string, controller_list*> controllers_;
  std::shared_ptr<std::map<std::string, bool>> open_ =
      std::make_shared<std::map<std::string, bool>>();
  const std::shared_ptr<std::uint64_t> made_id_ = std::make_shared<std::uint64_t>();
  std::optional<error> refusal_;
};

}  // namespace coua::ctl
