// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "bench/forward/forward_case.h"
#include "bench/forward/pipeline_bed.h"

namespace coua::bench {

/// A use case of pipelines (bench/cases/use_case.h); its packets come in by one port.
class pipeline_forward_case final : public forward_case {
 public:
  /// `folder` is where prepare() writes the packets, and outlives it.
  pipeline_forward_case(const forward_options&, std::unique_ptr<use_case>, unsigned serial,
                        std::string folder);

  std::uint64_t table_mib() const override;
  result<void> prepare(const packet_memory&, progress&) override;

 private:
  json params() const override;
  unsigned frame_size() const override { return case_->params().size; }
  mover& switching() override { return bed_->switching(); }
  result<churned*> updated() override;
  std::uint64_t updated_entries() const override { return spare_rules; }

  std::unique_ptr<use_case> case_;
  std::string folder_;
  std::unique_ptr<pipeline_bed> bed_;
  std::unique_ptr<churned> writer_;
};

}  // namespace coua::bench
