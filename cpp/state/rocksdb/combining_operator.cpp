#include "state/rocksdb/combining_operator.h"

#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "state/rocksdb/rocks_keys.h"

namespace penstock {

namespace {

class Concatenation final : public OperandCombiner {
 public:
  void combine(const std::vector<std::string_view>& operands, std::string* out) const override {
    for (const std::string_view operand : operands) out->append(operand);
  }
};

class CombiningOperator final : public rocksdb::MergeOperator {
 public:
  explicit CombiningOperator(std::shared_ptr<const OperandCombiner> combiner)
      : combiner_(std::move(combiner)) {}

  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    std::vector<std::string_view> operands;
    operands.reserve(in.operand_list.size() + 1);
    if (in.existing_value != nullptr) operands.push_back(to_view(*in.existing_value));
    for (const rocksdb::Slice& operand : in.operand_list) operands.push_back(to_view(operand));
    out->new_value.clear();
    combiner_->combine(operands, &out->new_value);
    return true;
  }
  bool PartialMergeMulti(const rocksdb::Slice&, const std::deque<rocksdb::Slice>& list,
                         std::string* value, rocksdb::Logger*) const override {
    std::vector<std::string_view> operands;
    operands.reserve(list.size());
    for (const rocksdb::Slice& operand : list) operands.push_back(to_view(operand));
    value->clear();
    combiner_->combine(operands, value);
    return true;
  }
  [[nodiscard]] const char* Name() const override { return "penstock.combining"; }

 private:
  std::shared_ptr<const OperandCombiner> combiner_;
};

}  // namespace

std::shared_ptr<rocksdb::MergeOperator> make_combining_operator(
    std::shared_ptr<const OperandCombiner> combiner) {
  if (combiner == nullptr) combiner = std::make_shared<Concatenation>();
  return std::make_shared<CombiningOperator>(std::move(combiner));
}

}  // namespace penstock
