#include <agones_alloc/yaml/manifest_files.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

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

TEST_CASE("manifests as they are published load unchanged, and what is ignored of them is named") {
  auto const notes_of = [](std::string const& file) {
    auto const loaded = yaml::load_path(file);
    for (auto const& error : loaded.errors) FAIL_CHECK(to_string(error));
    CHECK(loaded.fleets.size() == 1);
    std::vector<std::string> out;
    for (auto const& note : loaded.notes) out.push_back(to_string(note));
    return out;
  };
  std::string const arena = "tests/yaml/data/arena-fleet.yaml";
  CHECK(notes_of(arena) ==
        std::vector<std::string>{
            arena + ":2: Fleet default/arena: kept, but not simulated: spec.strategy, spec.template.spec.container, "
                    "spec.template.spec.health, spec.template.spec.sdkServer, spec.template.spec.eviction, "
                    "spec.template.spec.template",
            arena + ":106: left out: FleetAutoscaler \"arena\" (autoscaling.agones.dev/v1) is of no kind that is read"});
  std::string const lobby = "tests/yaml/data/lobby-fleet.yaml";
  CHECK(notes_of(lobby) ==
        std::vector<std::string>{lobby + ":2: Fleet default/lobby: kept, but not simulated: spec.strategy, "
                                         "spec.template.spec.health, spec.template.spec.scheduling, "
                                         "spec.template.spec.template"});
  auto const one = yaml::load_paths({arena, lobby});
  REQUIRE(one.fleets.size() == 2);
  CHECK(one.fleets[0].server_template.ports.size() == 2);
  CHECK(one.fleets[0].server_template.spec.view().find("registry.example/brawl/server:1.42.0") != std::string_view::npos);
  CHECK(one.fleets[1].server_template.counters.size() == 1);
  CHECK(one.fleets[1].status == agones_alloc::fleet_status{});
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

TEST_CASE("objects of one name are found across paths, and every path that cannot be read is told") {
  scratch const dir;
  auto const first = dir.write("a.yaml", fleet_text("same")).string();
  auto const second = dir.write("b.yaml", "---\n" + fleet_text("same")).string();
  auto const both = yaml::load_paths({first, second});
  CHECK(both.fleets.empty());
  CHECK(both.fleet_places.empty());
  REQUIRE(both.errors.size() == 1);
  CHECK(to_string(both.errors[0]) ==
        second + ":4: metadata.name: there are two of Fleet default/same: the first is at " + first + ":3");
  auto const missing = (dir.path() / "missing.yaml").string();
  auto const three = yaml::load_paths({missing, first, second});
  REQUIRE(three.errors.size() == 2);
  CHECK(to_string(three.errors[0]) == missing + ": no such file or directory");
  CHECK(three.errors[1] == both.errors[0]);
}

TEST_CASE("an object's place is told with it") {
  scratch const dir;
  auto const file = dir.write("a.yaml", "kind: List\napiVersion: v1\nitems:\n- apiVersion: agones.dev/v1\n  kind: Fleet\n"
                                        "  metadata:\n    name: a\n  spec:\n    replicas: 3\n")
                        .string();
  auto const loaded = yaml::load_paths({file});
  REQUIRE(loaded.fleet_places.size() == 1);
  auto const& place = loaded.fleet_places[0];
  CHECK(to_string(place.problem_at("metadata.name", "x")) == file + ":7: items[0].metadata.name: x");
  CHECK(to_string(place.problem_at("spec.replicas", "x")) == file + ":9: items[0].spec.replicas: x");
  CHECK(to_string(place.problem_at("", "x")) == file + ":4: items[0]: x");
}

TEST_CASE("a path without objects is named, and what is left out is told apart from what is kept") {
  scratch const dir;
  auto const good = dir.write("good.yaml", "apiVersion: agones.dev/v1\nkind: Fleet\nmetadata: {name: a}\n"
                                           "spec: {replicas: 1, strategy: {type: Recreate}}\n")
                        .string();
  auto const empty = dir.write("empty.yaml", "# nothing\n").string();
  auto const misspelt = dir.write("misspelt.yaml", "apiVersion: agones.dev/v1\nkind: Flete\nmetadata: {name: a}\n").string();
  auto const loaded = yaml::load_paths({good, empty, misspelt});
  CHECK(loaded.ok());
  CHECK(loaded.fleets.size() == 1);
  std::vector<std::string> kept;
  std::vector<std::string> left_out;
  for (auto const& note : loaded.notes) (note.left_out ? left_out : kept).push_back(to_string(note));
  CHECK(left_out == std::vector<std::string>{
                        misspelt + ":1: left out: Flete \"a\" (agones.dev/v1) is of no kind that is read",
                        empty + ": holds no Fleet, no GameServer and no GameServerAllocationPolicy",
                        misspelt + ": holds no Fleet, no GameServer and no GameServerAllocationPolicy"});
  CHECK(kept.size() == 1);
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
