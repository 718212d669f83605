#include <agones_alloc/yaml/manifest_files.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

namespace yaml = agones_alloc::yaml;
namespace fs = std::filesystem;

namespace {

/// A directory of its own that is gone afterwards.
class scratch {
 public:
  scratch() {
    auto pattern = (fs::temp_directory_path() / "agones_alloc_XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  scratch(scratch const&) = delete;
  auto operator=(scratch const&) -> scratch& = delete;

  auto write(std::string const& name, std::string const& text) const -> fs::path {
    std::ofstream{path_ / name} << text;
    return path_ / name;
  }
  auto path() const -> fs::path const& { return path_; }

 private:
  fs::path path_;
};

auto fleet_text(std::string const& name) -> std::string {
  return "apiVersion: agones.dev/v1\nkind: Fleet\nmetadata: {name: " + name + "}\nspec: {replicas: 1}\n";
}

}  // namespace

TEST_CASE("the examples load without a problem") {
  auto const simple = yaml::load_path("examples/fleets.yaml");
  for (auto const& error : simple.errors) FAIL_CHECK(to_string(error));
  CHECK(simple.fleets.size() == 2);
  auto const rich = yaml::load_path("examples/rich-fleets.yaml");
  for (auto const& error : rich.errors) FAIL_CHECK(to_string(error));
  CHECK(rich.fleets.size() == 1);
  CHECK(rich.game_servers.size() == 1);
  CHECK(rich.policies.size() == 2);
}

TEST_CASE("a directory is all its manifest files in the order of their names") {
  scratch const dir;
  dir.write("b.yaml", fleet_text("b"));
  dir.write("a.yml", fleet_text("a"));
  dir.write("c.json", R"({"apiVersion":"agones.dev/v1","kind":"Fleet","metadata":{"name":"c"},"spec":{"replicas":2}})");
  dir.write("notes.txt", "not: [yaml");
  fs::create_directory(dir.path() / "below.yaml");
  auto const loaded = yaml::load_path(dir.path());
  for (auto const& error : loaded.errors) FAIL_CHECK(to_string(error));
  REQUIRE(loaded.fleets.size() == 3);
  CHECK(loaded.fleets[0].meta.name == "a");
  CHECK(loaded.fleets[1].meta.name == "b");
  CHECK(loaded.fleets[2].meta.name == "c");
}

TEST_CASE("two fleets of one name are found across files") {
  scratch const dir;
  auto const first = dir.write("a.yaml", fleet_text("same"));
  auto const second = dir.write("b.yaml", fleet_text("same"));
  auto const loaded = yaml::load_path(dir.path());
  CHECK(loaded.fleets.empty());
  REQUIRE(loaded.errors.size() == 1);
  CHECK(to_string(loaded.errors[0]) == second.string() +
                                           ":3: metadata.name: there are two of Fleet default/same: the first is at " +
                                           first.string() + ":3");
}

TEST_CASE("a path that cannot be used says why") {
  scratch const dir;
  auto const message = [](fs::path const& path) {
    auto const loaded = yaml::load_path(path);
    REQUIRE(loaded.errors.size() == 1);
    return to_string(loaded.errors[0]);
  };
  auto const missing = dir.path() / "missing.yaml";
  CHECK(message(missing) == missing.string() + ": no such file or directory");
  CHECK(message(dir.path()) == dir.path().string() + ": the directory has no .yaml, .yml or .json file");
  auto const closed = dir.write("closed.yaml", fleet_text("x"));
  fs::permissions(closed, fs::perms::none);
  if (::geteuid() != 0) CHECK(message(closed) == closed.string() + ": cannot be read: Permission denied");
  auto const link = dir.path() / "loop.yaml";
  fs::create_symlink(link, link);
  CHECK(message(link).starts_with(link.string() + ": cannot be read: "));
}

TEST_CASE("the bound on bytes covers all files of a directory together") {
  scratch const dir;
  dir.write("a.yaml", fleet_text("a") + std::string(600, '#'));
  auto const last = dir.write("b.yaml", fleet_text("b") + std::string(600, '#'));
  yaml::manifest_options options;
  options.text.max_bytes = 1000;
  auto const loaded = yaml::load_path(dir.path(), options);
  REQUIRE(loaded.errors.size() == 1);
  CHECK(to_string(loaded.errors[0]) == last.string() + ": together with the files before it larger than 1000 bytes");
}
