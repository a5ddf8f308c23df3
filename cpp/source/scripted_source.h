// Plays stream elements exactly as written: the source of tests, and of sources fed from outside.
#pragma once

#include <vector>

#include "source/source.h"

namespace penstock {

class ScriptedSource final : public Source {
 public:
  explicit ScriptedSource(std::vector<Element> script) : script_(std::move(script)) {}
  Result<Poll> poll(Output& output) override;
  Status snapshot(OperatorState* state) override;
  Status restore(const OperatorState& state) override;

 private:
  std::vector<Element> script_;  // batches, watermarks and statuses only
  size_t position_ = 0;
};

}  // namespace penstock
