#include "source/chunked_source.h"

#include <algorithm>
#include <cstring>

namespace penstock {

namespace {

constexpr const char* kStateName = "source-splits";
// Keeps the row after next_chunk + stride within int64.
constexpr int64_t kMaxChunk = INT64_MAX / kChunkRows / 2;

std::string encode_split(const ChunkSplit& split) {
  std::string bytes(3 * sizeof(int64_t), '\0');
  std::memcpy(bytes.data(), &split.next_chunk, 8);
  std::memcpy(bytes.data() + 8, &split.stride, 8);
  std::memcpy(bytes.data() + 16, &split.row_in_chunk, 8);
  return bytes;
}

Result<ChunkSplit> decode_split(const std::string& bytes) {
  if (bytes.size() != 24)
    return Status::corruption("a source split of " + std::to_string(bytes.size()) + " bytes");
  ChunkSplit split;
  std::memcpy(&split.next_chunk, bytes.data(), 8);
  std::memcpy(&split.stride, bytes.data() + 8, 8);
  std::memcpy(&split.row_in_chunk, bytes.data() + 16, 8);
  if (split.next_chunk < 0 || split.next_chunk > kMaxChunk || split.stride < 1 ||
      split.stride > kMaxChunk || split.row_in_chunk < 0 || split.row_in_chunk >= kChunkRows) {
    return Status::corruption("a source split with impossible positions");
  }
  return split;
}

}  // namespace

Status ChunkedSource::open(const OperatorContext& context) {
  PENSTOCK_RETURN_NOT_OK(Source::open(context));
  splits_ = {ChunkSplit{context.subtask, context.parallelism, 0}};
  return Status::ok();
}

bool ChunkedSource::is_done(const ChunkSplit& split) const {
  return total_rows_ && split.next_chunk * kChunkRows + split.row_in_chunk >= *total_rows_;
}

int64_t ChunkedSource::allowed_by_rate(int64_t wanted, int64_t* wake_millis) {
  if (rows_per_second_ <= 0) return wanted;
  using Clock = std::chrono::steady_clock;
  if (!rate_start_) rate_start_ = Clock::now();
  const double rate = rows_per_second_ / context_.parallelism;
  const double elapsed = std::chrono::duration<double>(Clock::now() - *rate_start_).count();
  const auto due = static_cast<int64_t>(elapsed * rate) + 1;
  if (due > emitted_) return std::min(wanted, due - emitted_);
  const double wait_seconds = static_cast<double>(emitted_) / rate - elapsed;
  const auto wait_millis = std::max<int64_t>(5, static_cast<int64_t>(wait_seconds * 1000.0));
  *wake_millis = context_.clock->now_millis() + wait_millis;
  return 0;
}

Result<Poll> ChunkedSource::poll(Output& output) {
  std::erase_if(splits_,
                [this](const ChunkSplit& split) { return splits_.size() > 1 && is_done(split); });
  if (splits_.empty() || (splits_.size() == 1 && is_done(splits_[0]))) return Poll{PollKind::kEnd};
  if (current_ >= splits_.size()) current_ = 0;
  ChunkSplit& split = splits_[current_];

  const int64_t first = split.next_chunk * kChunkRows + split.row_in_chunk;
  int64_t count = std::min(kChunkRows - split.row_in_chunk, batch_rows_);
  if (total_rows_) count = std::min(count, *total_rows_ - first);
  Poll poll;
  count = allowed_by_rate(count, &poll.wake_millis);
  if (count == 0) {
    poll.kind = PollKind::kWait;
    return poll;
  }
  PENSTOCK_ASSIGN_OR_RETURN(Batch batch, read(first, count));
  emitted_ += batch.num_rows;
  split.row_in_chunk += batch.num_rows;
  if (split.row_in_chunk == kChunkRows) {
    split.row_in_chunk = 0;
    split.next_chunk += split.stride;
    ++current_;
  }
  PENSTOCK_RETURN_NOT_OK(output.emit(std::move(batch)));
  return Poll{PollKind::kMore};
}

Status ChunkedSource::snapshot(OperatorState* state) {
  ListStateData list;
  list.meta = StateMeta{kStateName, StateKind::kOperatorList, "", "",
                        "next_chunk:int64,stride:int64,row_in_chunk:int64"};
  for (const ChunkSplit& split : splits_) list.items.push_back(encode_split(split));
  state->lists.push_back(std::move(list));
  return Status::ok();
}

Status ChunkedSource::restore(const OperatorState& state) {
  const ListStateData* list = state.find_list(kStateName);
  if (list == nullptr)
    return Status::corruption("the checkpoint has no '" + std::string(kStateName) +
                              "' for this source");
  splits_.clear();
  for (const std::string& item : list->items) {
    PENSTOCK_ASSIGN_OR_RETURN(ChunkSplit split, decode_split(item));
    splits_.push_back(split);
  }
  return Status::ok();
}

}  // namespace penstock
