#include "snapshot/directory_lock.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

namespace penstock {
namespace {

TEST(DirectoryLock, OneHolderAtATime) {
  const auto directory =
      std::filesystem::temp_directory_path() / ("penstock-lock-" + std::to_string(::getpid()));
  std::filesystem::create_directories(directory);
  {
    auto first = DirectoryLock::acquire(directory);
    ASSERT_TRUE(first.is_ok()) << first.status().message();
    const auto second = DirectoryLock::acquire(directory);
    EXPECT_EQ(second.status().code(), StatusCode::kInvalidArgument);
    EXPECT_NE(second.status().message().find("in use by another run"), std::string::npos);
    DirectoryLock moved = std::move(first).value();
    EXPECT_FALSE(DirectoryLock::acquire(directory).is_ok());
    moved.release();
    EXPECT_TRUE(DirectoryLock::acquire(directory).is_ok());
  }
  EXPECT_TRUE(DirectoryLock::acquire(directory).is_ok());
  std::filesystem::remove_all(directory);
}

TEST(DirectoryLock, AMissingDirectoryIsAnIoError) {
  EXPECT_EQ(DirectoryLock::acquire("/nowhere/at/all").status().code(), StatusCode::kIoError);
}

}  // namespace
}  // namespace penstock
