// What merges operands in RocksDB: an OperandCombiner as RocksDB wants it.
#pragma once

#include <rocksdb/merge_operator.h>

#include <memory>

#include "state/rocksdb/blind_merge_store.h"

namespace penstock {

// Without a combiner, for whoever reads values that it does not know how to merge, operands are put
// one behind the other: which is a value, too (OperandCombiner).
std::shared_ptr<rocksdb::MergeOperator> make_combining_operator(
    std::shared_ptr<const OperandCombiner> combiner);

}  // namespace penstock
