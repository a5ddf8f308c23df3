#include "snapshot/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace penstock {

Result<DirectoryLock> DirectoryLock::acquire(const std::string& directory) {
  const std::string path = directory + "/.lock";
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    return Status::io_error("cannot open '" + path +
                            "': " + std::generic_category().message(errno));
  }
  DirectoryLock lock(descriptor);
  int result = 0;
  do {
    result = ::flock(descriptor, LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  if (result == 0) return lock;
  if (errno == EWOULDBLOCK) {
    return Status::invalid(
        "'" + directory +
        "' is in use by another run of this job: wait for its end or cancel it, or give "
        "one of them another job id");
  }
  return Status::io_error("cannot lock '" + path + "': " + std::generic_category().message(errno));
}

void DirectoryLock::release() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

}  // namespace penstock
