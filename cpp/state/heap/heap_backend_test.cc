#include "state/heap/heap_backend.h"

#include <gtest/gtest.h>

#include "state/backend_contract.h"

namespace penstock {

INSTANTIATE_TEST_SUITE_P(Heap, BackendContract,
                         testing::Values(BackendCase{"hashmap", make_heap_backend}),
                         backend_case_name);

}  // namespace penstock
