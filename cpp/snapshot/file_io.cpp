#include "snapshot/file_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace penstock {

namespace {

Status failure(const std::string& what, const std::string& path, int code) {
  return Status::io_error("cannot " + what + " '" + path +
                          "': " + std::generic_category().message(code));
}

// Closes its descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor& operator=(Descriptor&&) = delete;
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  int close() { return fd_ >= 0 ? ::close(std::exchange(fd_, -1)) : 0; }

 private:
  int fd_;
};

class LocalFile final : public WritableFile {
 public:
  LocalFile(Descriptor fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  Status append(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t written = ::write(fd_.get(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return failure("write", path_, errno);
      bytes.remove_prefix(static_cast<size_t>(written));
    }
    return Status::ok();
  }
  Status sync() override {
    return ::fsync(fd_.get()) == 0 ? Status::ok() : failure("sync", path_, errno);
  }
  Status close() override {
    return fd_.close() == 0 ? Status::ok() : failure("close", path_, errno);
  }

 private:
  Descriptor fd_;
  const std::string path_;
};

Result<std::string> read_all(const Descriptor& fd, const std::string& path) {
  struct stat info = {};
  if (::fstat(fd.get(), &info) != 0) return failure("read", path, errno);
  std::string bytes(static_cast<size_t>(std::max<off_t>(info.st_size, 0)), '\0');
  size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = ::read(fd.get(), bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failure("read", path, errno);
    if (got == 0) break;  // became shorter meanwhile
    filled += static_cast<size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

class LocalFileSystem final : public FileSystem {
 public:
  Result<std::unique_ptr<WritableFile>> create(const std::string& path) override {
    Descriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!fd.is_open()) return failure("create", path, errno);
    return std::unique_ptr<WritableFile>(std::make_unique<LocalFile>(std::move(fd), path));
  }

  Result<std::optional<std::string>> read(const std::string& path) override {
    const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.is_open() && (errno == ENOENT || errno == ENOTDIR)) {
      return std::optional<std::string>();
    }
    if (!fd.is_open()) return failure("open", path, errno);
    PENSTOCK_ASSIGN_OR_RETURN(std::string bytes, read_all(fd, path));
    return std::optional<std::string>(std::move(bytes));
  }

  Status rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) == 0) return Status::ok();
    return failure("rename '" + from + "' to", to, errno);
  }

  Status sync_directory(const std::string& path) override {
    const Descriptor fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd.is_open()) return failure("open the directory", path, errno);
    // Some file systems (network mounts) cannot sync a directory and say EINVAL: nothing to be
    // done.
    if (::fsync(fd.get()) == 0 || errno == EINVAL) return Status::ok();
    return failure("sync the directory", path, errno);
  }

  Status create_directories(const std::string& path) override {
    if (path.empty() || path == "." || path == "/") return Status::ok();
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) return Status::ok();
    const std::string parent = parent_path(path);
    PENSTOCK_RETURN_NOT_OK(create_directories(parent));
    if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) {
      return failure("create the directory", path, errno);
    }
    return sync_directory(parent);
  }

  Status remove_all(const std::string& path) override {
    std::error_code error;
    std::filesystem::remove_all(path, error);
    return error ? failure("remove", path, error.value()) : Status::ok();
  }

  Result<std::vector<std::string>> list(const std::string& path) override {
    std::vector<std::string> names;
    std::error_code error;
    std::filesystem::directory_iterator it(path, error);
    if (error == std::errc::no_such_file_or_directory) return names;
    for (const std::filesystem::directory_iterator end; !error && it != end; it.increment(error)) {
      names.push_back(it->path().filename().string());
    }
    if (error) return failure("list", path, error.value());
    std::sort(names.begin(), names.end());
    return names;
  }

  Result<bool> exists(const std::string& path) override {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (status.type() == std::filesystem::file_type::not_found) return false;
    if (error) return failure("look at", path, error.value());
    return true;
  }
};

}  // namespace

FileSystem* local_file_system() {
  static LocalFileSystem files;
  return &files;
}

Status write_file(FileSystem* files, const std::string& path, std::string_view bytes) {
  PENSTOCK_ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file, files->create(path));
  PENSTOCK_RETURN_NOT_OK(file->append(bytes));
  PENSTOCK_RETURN_NOT_OK(file->sync());
  return file->close();
}

Status replace_file(FileSystem* files, const std::string& path, std::string_view bytes) {
  const std::string temporary = path + ".tmp";
  PENSTOCK_RETURN_NOT_OK(write_file(files, temporary, bytes));
  PENSTOCK_RETURN_NOT_OK(files->rename(temporary, path));
  return files->sync_directory(parent_path(path));
}

std::string parent_path(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace penstock
