#include "snapshot/checkpoint_metadata.h"

#include <limits>
#include <memory>
#include <utility>

#include "snapshot/json.h"

namespace penstock {

namespace {

constexpr uint32_t kJsonSection = 1;  // reaches disk: never to change

Json task_to_json(const TaskId& task) {
  return Json::Object{{"vertex", task.vertex}, {"subtask", task.subtask}};
}

Json task_file_to_json(const TaskFile& file) {
  return Json::Object{{"vertex", file.task.vertex},
                      {"subtask", file.task.subtask},
                      {"file", file.file},
                      {"size", static_cast<int64_t>(file.size)},
                      {"crc32c", static_cast<int64_t>(file.crc32c)}};
}

Json shared_file_to_json(const SharedFile& file) {
  return Json::Object{{"content_id", file.content_id},
                      {"size", static_cast<int64_t>(file.size)},
                      {"crc32c", static_cast<int64_t>(file.crc32c)}};
}

Json operator_to_json(const OperatorInfo& info) {
  return Json::Object{{"uid", info.uid},
                      {"name", info.name},
                      {"parallelism", info.parallelism},
                      {"max_parallelism", info.max_parallelism}};
}

Result<TaskId> task_from_json(const Json& json) {
  TaskId task;
  PENSTOCK_ASSIGN_OR_RETURN(task.vertex, json.get_string("vertex"));
  PENSTOCK_ASSIGN_OR_RETURN(task.subtask, json.get_int32("subtask"));
  return task;
}

// The members `size` and `crc32c` of a file.
Status size_from_json(const Json& json, const std::string& name, uint64_t* size, uint32_t* crc32c) {
  PENSTOCK_ASSIGN_OR_RETURN(const int64_t size_found, json.get_int("size"));
  PENSTOCK_ASSIGN_OR_RETURN(const int64_t crc_found, json.get_int("crc32c"));
  if (size_found < 0 || crc_found < 0 || crc_found > std::numeric_limits<uint32_t>::max()) {
    return Status::corruption("size or checksum of '" + name + "' is out of range");
  }
  *size = static_cast<uint64_t>(size_found);
  *crc32c = static_cast<uint32_t>(crc_found);
  return Status::ok();
}

// Joined to a directory: may not lead out of it.
Status check_file_name(const std::string& name) {
  if (!name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos) {
    return Status::ok();
  }
  return Status::corruption("'" + name + "' is no name of a state file");
}

Result<SharedFile> shared_file_from_json(const Json& json) {
  SharedFile file;
  PENSTOCK_ASSIGN_OR_RETURN(file.content_id, json.get_string("content_id"));
  PENSTOCK_RETURN_NOT_OK(check_file_name(file.content_id));
  PENSTOCK_RETURN_NOT_OK(size_from_json(json, file.content_id, &file.size, &file.crc32c));
  return file;
}

Result<TaskFile> task_file_from_json(const Json& json) {
  TaskFile file;
  PENSTOCK_ASSIGN_OR_RETURN(file.task, task_from_json(json));
  PENSTOCK_ASSIGN_OR_RETURN(file.file, json.get_string("file"));
  PENSTOCK_RETURN_NOT_OK(check_file_name(file.file));
  PENSTOCK_RETURN_NOT_OK(size_from_json(json, file.file, &file.size, &file.crc32c));
  return file;
}

Result<OperatorInfo> operator_from_json(const Json& json) {
  OperatorInfo info;
  PENSTOCK_ASSIGN_OR_RETURN(info.uid, json.get_string("uid"));
  PENSTOCK_ASSIGN_OR_RETURN(info.name, json.get_string("name"));
  PENSTOCK_ASSIGN_OR_RETURN(info.parallelism, json.get_int32("parallelism"));
  PENSTOCK_ASSIGN_OR_RETURN(info.max_parallelism, json.get_int32("max_parallelism"));
  return info;
}

template <typename T, typename ToJson>
Json list_to_json(const std::vector<T>& items, const ToJson& to_json) {
  Json::Array array;
  for (const T& item : items) array.push_back(to_json(item));
  return array;
}

template <typename T, typename FromJson>
Status list_from_json(const Json& json, std::string_view name, const FromJson& from_json,
                      std::vector<T>* out) {
  PENSTOCK_ASSIGN_OR_RETURN(const Json::Array* array, json.get_array(name));
  for (const Json& item : *array) {
    PENSTOCK_ASSIGN_OR_RETURN(T value, from_json(item));
    out->push_back(std::move(value));
  }
  return Status::ok();
}

}  // namespace

const OperatorInfo* CheckpointMetadata::find_operator(std::string_view uid) const {
  for (const OperatorInfo& info : operators) {
    if (info.uid == uid) return &info;
  }
  return nullptr;
}

std::string metadata_to_json(const CheckpointMetadata& metadata) {
  return Json(Json::Object{
                  {"format_version", static_cast<int64_t>(kFormatVersion)},
                  {"job_id", metadata.job_id},
                  {"job_name", metadata.job_name},
                  {"checkpoint_id", metadata.checkpoint_id.value},
                  {"trigger_millis", metadata.trigger_millis},
                  {"operators", list_to_json(metadata.operators, operator_to_json)},
                  {"tasks", list_to_json(metadata.tasks, task_file_to_json)},
                  {"finished_tasks", list_to_json(metadata.finished_tasks, task_to_json)},
                  {"shared_files", list_to_json(metadata.shared_files, shared_file_to_json)},
                  {"savepoint", metadata.savepoint}})
      .dump();
}

Result<CheckpointMetadata> metadata_from_json(std::string_view text) {
  PENSTOCK_ASSIGN_OR_RETURN(const Json json, Json::parse(text));
  CheckpointMetadata out;
  PENSTOCK_ASSIGN_OR_RETURN(out.job_id, json.get_string("job_id"));
  PENSTOCK_ASSIGN_OR_RETURN(out.job_name, json.get_string("job_name"));
  PENSTOCK_ASSIGN_OR_RETURN(out.checkpoint_id.value, json.get_int("checkpoint_id"));
  PENSTOCK_ASSIGN_OR_RETURN(out.trigger_millis, json.get_int("trigger_millis"));
  PENSTOCK_RETURN_NOT_OK(list_from_json(json, "operators", operator_from_json, &out.operators));
  PENSTOCK_RETURN_NOT_OK(list_from_json(json, "tasks", task_file_from_json, &out.tasks));
  PENSTOCK_RETURN_NOT_OK(
      list_from_json(json, "finished_tasks", task_from_json, &out.finished_tasks));
  PENSTOCK_ASSIGN_OR_RETURN(const int64_t version, json.get_int("format_version"));
  if (version < 2) return out;  // had no such members yet
  PENSTOCK_RETURN_NOT_OK(
      list_from_json(json, "shared_files", shared_file_from_json, &out.shared_files));
  PENSTOCK_ASSIGN_OR_RETURN(out.savepoint, json.get_bool("savepoint"));
  return out;
}

Status write_metadata(FileSystem* files, const std::string& path,
                      const CheckpointMetadata& metadata) {
  PENSTOCK_ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> file, files->create(path));
  ContainerWriter out(file.get(), ContainerKind::kMetadata);
  PENSTOCK_RETURN_NOT_OK(out.add_section(kJsonSection, metadata_to_json(metadata)));
  PENSTOCK_RETURN_NOT_OK(out.finish().status());
  return file->close();
}

Result<CheckpointMetadata> parse_metadata(std::string_view bytes, const std::string& name) {
  PENSTOCK_ASSIGN_OR_RETURN(const std::vector<Section> sections,
                            read_container(bytes, ContainerKind::kMetadata, name));
  if (sections.size() != 1 || sections[0].type != kJsonSection) {
    return damaged(name, "it does not hold exactly one JSON document");
  }
  auto metadata = metadata_from_json(sections[0].payload);
  if (!metadata.is_ok()) return damaged(name, metadata.status().message());
  return metadata;
}

}  // namespace penstock
