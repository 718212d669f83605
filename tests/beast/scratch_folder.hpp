// A folder of its own that is gone afterwards.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include <unistd.h>

namespace beast_test {

class scratch_folder {
 public:
  scratch_folder() {
    auto pattern = (std::filesystem::temp_directory_path() / "agones_alloc_XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  scratch_folder(scratch_folder const&) = delete;
  auto operator=(scratch_folder const&) -> scratch_folder& = delete;

  auto path() const -> std::filesystem::path const& { return path_; }
  auto write(std::string const& name, std::string const& text) const -> std::string {
    std::ofstream{path_ / name} << text;
    return (path_ / name).string();
  }
  /// A program for /bin/sh.
  auto script(std::string const& name, std::string const& text) const -> std::string {
    auto out = write(name, "#!/bin/sh\n" + text);
    std::filesystem::permissions(out, std::filesystem::perms::owner_all);
    return out;
  }
  auto read(std::string const& name) const -> std::string {
    std::ifstream in{path_ / name};
    return {std::istreambuf_iterator<char>{in}, std::istreambuf_iterator<char>{}};
  }

 private:
  std::filesystem::path path_;
};

}  // namespace beast_test
