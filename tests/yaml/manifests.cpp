#include <agones_alloc/yaml/manifests.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace yaml = agones_alloc::yaml;
using agones_alloc::game_server_state;

template <>
struct doctest::StringMaker<std::vector<std::string>> {
  static auto convert(std::vector<std::string> const& lines) -> doctest::String {
    std::string out;
    for (auto const& line : lines) out += "\n" + line;
    return out.c_str();
  }
};

namespace {

/// A fleet manifest of seven lines, and what follows.
auto fleet_with(std::string const& more, std::string const& replicas = "3", std::string const& name = "simple")
    -> std::string {
  return "apiVersion: agones.dev/v1\n"
         "kind: Fleet\n"
         "metadata:\n"
         "  name: " +
         name +
         "\n"
         "spec:\n"
         "  replicas: " +
         replicas + "\n" + more;
}

auto in_template(std::string const& spec_lines) -> std::string {
  return fleet_with("  template:\n    spec:\n" + spec_lines);
}

auto errors_of(std::string const& text, yaml::manifest_options const& options = {}) -> std::vector<std::string> {
  auto const loaded = yaml::load(text, "f.yaml", options);
  if (!loaded.ok()) {
    CHECK(loaded.fleets.empty());
    CHECK(loaded.game_servers.empty());
    CHECK(loaded.policies.empty());
  }
  std::vector<std::string> out;
  for (auto const& error : loaded.errors) out.push_back(to_string(error));
  return out;
}

auto notes_of(std::string const& text) -> std::vector<std::string> {
  auto const loaded = yaml::load(text, "f.yaml");
  for (auto const& error : loaded.errors) FAIL_CHECK(to_string(error));
  std::vector<std::string> out;
  for (auto const& note : loaded.notes) out.push_back(to_string(note));
  return out;
}

using texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a fleet is read with its template") {
  auto const loaded = yaml::load(
      "apiVersion: agones.dev/v1\nkind: Fleet\nmetadata:\n  name: arena\n  namespace: games\n  annotations: {a: b}\n"
      "spec:\n  replicas: 24\n  scheduling: Distributed\n"
      "  allocationOverflow: {labels: {o: \"1\"}}\n"
      "  priorities: [{type: Counter, key: rooms, order: Descending}]\n"
      "  template:\n    metadata: {labels: {map: harbour}}\n    spec:\n"
      "      ports: [{name: game, containerPort: 7777}, {name: q, portPolicy: Passthrough, protocol: TCPUDP}]\n"
      "      counters: {rooms: {count: 1, capacity: 5}, bare: {}}\n"
      "      lists: {players: {capacity: 8, values: [a, b]}}\n"
      "      template: {spec: {containers: [{name: c, image: i, resources: {limits: {cpu: 0.5, memory: 64Mi}}}]}}\n",
      "f.yaml");
  for (auto const& error : loaded.errors) FAIL_CHECK(to_string(error));
  REQUIRE(loaded.fleets.size() == 1);
  auto const& f = loaded.fleets[0];
  CHECK(f.meta.name == "arena");
  CHECK(f.meta.namespace_ == "games");
  CHECK(f.replicas == 24);
  CHECK(f.scheduling == "Distributed");
  REQUIRE(f.allocation_overflow);
  CHECK(f.allocation_overflow->labels.value_or_empty("o") == "1");
  REQUIRE(f.priorities.size() == 1);
  CHECK(f.priorities[0].key == "rooms");
  CHECK(f.server_template.labels.value_or_empty("map") == "harbour");
  REQUIRE(f.server_template.ports.size() == 2);
  CHECK(f.server_template.ports[0].container_port == 7777);
  CHECK(f.server_template.ports[1].protocol == "TCPUDP");
  CHECK(f.server_template.counters.at("rooms") == agones_alloc::counter_status{1, 5});
  CHECK(f.server_template.counters.at("bare") == agones_alloc::counter_status{0, 1000});
  CHECK(f.server_template.lists.at("players").count() == 2);
  CHECK(f.server_template.spec.view().find("\"memory\":\"64Mi\"") != std::string_view::npos);
}

TEST_CASE("a game server is read with and without a status") {
  auto const loaded = yaml::load(
      "apiVersion: agones.dev/v1\nkind: GameServer\nmetadata: {name: one}\nspec: {ports: [{name: p, containerPort: "
      "1}], counters: {c: {count: 2}}}\n"
      "---\n"
      "apiVersion: agones.dev/v1\nkind: GameServer\nmetadata: {name: two, namespace: other}\n"
      "status: {state: Allocated, address: 1.2.3.4, ports: [{name: p, port: 7000}], nodeName: node-1}\n",
      "f.yaml");
  for (auto const& error : loaded.errors) FAIL_CHECK(to_string(error));
  REQUIRE(loaded.game_servers.size() == 2);
  CHECK(loaded.game_servers[0].server.meta.namespace_ == "default");
  CHECK(loaded.game_servers[0].server.status.state == game_server_state::unset);
  CHECK(loaded.game_servers[0].shape.ports.size() == 1);
  CHECK(loaded.game_servers[0].shape.counters.at("c").count == 2);
  CHECK(loaded.game_servers[1].server.status.state == game_server_state::allocated);
  CHECK(loaded.game_servers[1].server.status.ports[0].port == 7000);
}

TEST_CASE("policies and lists are read") {
  auto const loaded = yaml::load(
      "apiVersion: v1\nkind: List\nmetadata: {}\nitems:\n"
      "- apiVersion: multicluster.agones.dev/v1\n  kind: GameServerAllocationPolicy\n  metadata: {name: a}\n"
      "  spec: {priority: 2, weight: 50, connectionInfo: {clusterName: c, allocationEndpoints: [e], secretName: s, "
      "namespace: games, serverCa: aGk=}}\n"
      "- apiVersion: multicluster.agones.dev/v1alpha1\n  kind: GameServerAllocationPolicy\n  metadata: {name: b}\n  "
      "spec: {priority: 1, weight: 1}\n",
      "f.yaml");
  for (auto const& error : loaded.errors) FAIL_CHECK(to_string(error));
  REQUIRE(loaded.policies.size() == 2);
  CHECK(loaded.policies[0].priority == 2);
  CHECK(loaded.policies[0].connection_info.server_ca == "hi");
  CHECK(loaded.policies[0].meta.namespace_ == "default");
  CHECK(loaded.policies[1].meta.name == "b");
}

TEST_CASE("the default namespace can be chosen") {
  yaml::manifest_options options;
  options.default_namespace = "games";
  auto const loaded = yaml::load(fleet_with(""), "f.yaml", options);
  REQUIRE(loaded.fleets.size() == 1);
  CHECK(loaded.fleets[0].meta.namespace_ == "games");
}

TEST_CASE("a status that was exported with a fleet is dropped") {
  auto const loaded = yaml::load(
      fleet_with("status: {replicas: 7, readyReplicas: 7, reservedReplicas: 0, allocatedReplicas: 0}\n"), "f.yaml");
  REQUIRE(loaded.fleets.size() == 1);
  CHECK(loaded.fleets[0].status == agones_alloc::fleet_status{});
}

TEST_CASE("what is left out or not simulated is named") {
  CHECK(notes_of(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n---\n\napiVersion: v1\nkind: Service\n") ==
        texts{"f.yaml:1: left out: Deployment \"web\" (apps/v1) is of no kind that is read",
              "f.yaml:6: left out: Service (v1) is of no kind that is read"});
  CHECK(notes_of("kind: Fleet\napiVersion: fleet.cattle.io/v1alpha1\n") ==
        texts{"f.yaml:1: left out: Fleet (fleet.cattle.io/v1alpha1) is of no kind that is read"});
  CHECK(notes_of(fleet_with("  replica: 7\n")) == texts{"f.yaml:7: spec.replica: left out: no such field"});
  CHECK(notes_of(
            fleet_with("  strategy: {type: Recreate}\n  template:\n    spec: {health: {}, template: {spec: {}}}\n")) ==
        texts{"f.yaml:1: Fleet default/simple: kept, but not simulated: spec.strategy, spec.template.spec.health, "
              "spec.template.spec.template"});
}

TEST_CASE("a bad quantity is named with its place") {
  auto const found =
      errors_of(in_template("      template:\n"
                            "        spec:\n"
                            "          containers:\n"
                            "          - name: c\n"
                            "            resources:\n"
                            "              limits: {cpu: 20m}\n"
                            "              requests:\n"
                            "                cpu: 20m\n"
                            "                memory: 64Mx\n"));
  REQUIRE(found.size() == 1);
  CHECK(found[0].starts_with("f.yaml:17: spec.template.spec.template.spec.containers[0].resources.requests[memory]: "));
  CHECK(found[0].find("64Mx") != std::string::npos);
}

TEST_CASE("two fleets of one name in one namespace are refused, both named") {
  auto const second = fleet_with("");
  CHECK(errors_of(fleet_with("") + "---\n" + second) ==
        texts{"f.yaml:11: metadata.name: there are two of Fleet default/simple: the first is at f.yaml:4"});
  CHECK(errors_of(fleet_with("") + "---\n" + fleet_with("", "1", "simple\n  namespace: other")).empty());
  CHECK(errors_of(fleet_with("") + "---\napiVersion: agones.dev/v1\nkind: GameServer\nmetadata: {name: simple}\n")
            .empty());
}

TEST_CASE("replicas have bounds") {
  CHECK(errors_of(fleet_with("", "-1")) == texts{"f.yaml:6: spec.replicas: -1 must not be negative"});
  CHECK(errors_of(fleet_with("", "100001")) == texts{"f.yaml:6: spec.replicas: 100001 is more than 100000"});
  CHECK(errors_of(fleet_with("", "1e3")).empty());
  auto const wrong_type = errors_of(fleet_with("", "many"));
  REQUIRE(wrong_type.size() == 1);
  CHECK(wrong_type[0].starts_with("f.yaml:6: spec.replicas: "));
  for (std::string const text : {"3000000000", "99999999999999999999", "1.5", "\"3\"", "[3]", "yes"}) {
    CAPTURE(text);
    auto const found = errors_of(fleet_with("", text));
    REQUIRE(found.size() == 1);
    CHECK(found[0].starts_with("f.yaml:6: spec.replicas: "));
  }
  yaml::manifest_options options;
  options.max_total_replicas = 5;
  CHECK(errors_of(fleet_with("") + "---\n" + fleet_with("", "3", "other"), options) ==
        texts{"f.yaml:13: spec.replicas: brings the servers of all manifests over 5"});
}

TEST_CASE("every value of the wrong type or out of range is named with its line") {
  struct row {
    std::string lines;
    std::string error;
  };
  // The lines stand below spec.template.spec, the first is line 9.
  std::vector<row> const table{
      {"      ports:\n      - {name: a}\n      - name: b\n        portPolicy: Dynamo\n",
       "f.yaml:12: spec.template.spec.ports[1].portPolicy: \"Dynamo\" is none of Dynamic, Static, Passthrough, None"},
      {"      ports:\n      - {name: a}\n      - {name: a}\n",
       "f.yaml:11: spec.template.spec.ports[1].name: \"a\" is given twice"},
      {"      ports:\n      - {name: a, protocol: SCTP}\n",
       "f.yaml:10: spec.template.spec.ports[0].protocol: \"SCTP\" is none of UDP, TCP, TCPUDP"},
      {"      ports: [{containerPort: 65536}]\n",
       "f.yaml:9: spec.template.spec.ports[0].containerPort: 65536 is no port: 1 to 65535"},
      {"      ports: [{containerPort: -1}]\n",
       "f.yaml:9: spec.template.spec.ports[0].containerPort: -1 is no port: 1 to 65535"},
      {"      ports: [{portPolicy: Static}]\n",
       "f.yaml:9: spec.template.spec.ports[0].hostPort: 0 is no port: 1 to 65535"},
      {"      counters:\n        rooms: {count: 6, capacity: 5}\n",
       "f.yaml:10: spec.template.spec.counters[rooms].count: 6 is more than its capacity, 5"},
      {"      counters:\n        rooms: {count: -1, capacity: 5}\n",
       "f.yaml:10: spec.template.spec.counters[rooms].count: must not be negative"},
      {"      counters:\n        rooms: {capacity: -5}\n",
       "f.yaml:10: spec.template.spec.counters[rooms].capacity: must not be negative"},
      {"      lists:\n        p:\n          capacity: 1001\n",
       "f.yaml:11: spec.template.spec.lists[p].capacity: 1001 is not between 0 and 1000"},
      {"      lists:\n        p: {capacity: 1, values: [a, b]}\n",
       "f.yaml:10: spec.template.spec.lists[p].values: 2 values are more than its capacity, 1"},
      {"      lists:\n        p:\n          values:\n          - a\n          - a\n",
       "f.yaml:13: spec.template.spec.lists[p].values[1]: \"a\" is given twice"},
  };
  for (auto const& each : table) {
    CAPTURE(each.lines);
    auto const& [lines, error] = each;
    CHECK(errors_of(in_template(lines)) == texts{error});
  }
}

TEST_CASE("a fleet's own fields are checked") {
  CHECK(errors_of(fleet_with("  scheduling: packed\n")) ==
        texts{"f.yaml:7: spec.scheduling: \"packed\" is none of Packed, Distributed"});
  CHECK(errors_of(
            fleet_with("  priorities:\n  - {type: Counters, key: a}\n  - {type: List, key: b, order: Up}\n  - {}\n")) ==
        texts{"f.yaml:8: spec.priorities[0].type: \"Counters\" is none of Counter, List",
              "f.yaml:9: spec.priorities[1].order: \"Up\" is none of Ascending, Descending",
              "f.yaml:10: spec.priorities[2].type: is missing", "f.yaml:10: spec.priorities[2].key: is missing"});
  CHECK(
      errors_of(fleet_with("", "1", "Simple_1")) ==
      texts{
          "f.yaml:4: metadata.name: \"Simple_1\" is no DNS name of at most 63 lower-case letters, digits and dashes"});
  CHECK(
      errors_of(fleet_with("", "1", "a\n  namespace: a.b")) ==
      texts{
          "f.yaml:5: metadata.namespace: \"a.b\" is no DNS name of at most 63 lower-case letters, digits and dashes"});
  CHECK(errors_of(fleet_with("", "1", "")) == texts{"f.yaml:4: metadata.name: is missing"});
  CHECK(errors_of(fleet_with(
            "", "1",
            "a\n  annotations:\n    agones-alloc.dev/start-up: soon\n    agones-alloc.dev/session-length: 3s-1s")) ==
        texts{"f.yaml:6: metadata.annotations[agones-alloc.dev/start-up]: \"soon\" must be a duration such as 2s, or a "
              "range such as 1s-3s",
              "f.yaml:7: metadata.annotations[agones-alloc.dev/session-length]: \"3s-1s\" must be a duration such as "
              "10m, a range such as 5m-10m, or never"});
  auto const wrong_type = errors_of(fleet_with("", "1", "a\n  labels:\n    version: 1.5"));
  REQUIRE(wrong_type.size() == 1);
  CHECK(wrong_type[0].starts_with("f.yaml:6: metadata.labels"));
}

TEST_CASE("game servers and policies are checked") {
  CHECK(errors_of("apiVersion: agones.dev/v1\nkind: GameServer\nmetadata: {name: a}\nstatus:\n  state: Redy\n") ==
        texts{"f.yaml:5: status.state: is no state of a game server"});
  CHECK(errors_of("apiVersion: agones.dev/v1\nkind: GameServer\nmetadata: {generateName: a-}\n") ==
        texts{"f.yaml:3: metadata.name: is missing"});
  CHECK(errors_of(
            "apiVersion: agones.dev/v1\nkind: GameServer\nmetadata: {name: a}\nspec:\n  ports:\n  - portPolicy: X\n") ==
        texts{"f.yaml:6: spec.ports[0].portPolicy: \"X\" is none of Dynamic, Static, Passthrough, None"});
  CHECK(errors_of("apiVersion: multicluster.agones.dev/v1\nkind: GameServerAllocationPolicy\nmetadata: {name: "
                  "a}\nspec:\n  priority: -1\n  weight: -2\n") ==
        texts{"f.yaml:5: spec.priority: -1 must not be negative", "f.yaml:6: spec.weight: -2 must not be negative"});
}

TEST_CASE("what is no object that is read is refused") {
  CHECK(errors_of("just text\n") ==
        texts{"f.yaml:1: is no Kubernetes object: a map with apiVersion and kind is expected"});
  CHECK(errors_of("\n- a\n") == texts{"f.yaml:2: is no Kubernetes object: a map with apiVersion and kind is expected"});
  CHECK(errors_of("apiVersion: agones.dev/v1\n") == texts{"f.yaml:1: kind: is missing, or is no text"});
  CHECK(errors_of("kind: Fleet\napiVersion: 1\n") == texts{"f.yaml:2: apiVersion: is missing, or is no text"});
  CHECK(errors_of("kind: Fleet\napiVersion: agones.dev/v2\n") ==
        texts{"f.yaml:2: apiVersion: Fleet of \"agones.dev/v2\" is not read: use agones.dev/v1"});
  CHECK(errors_of("kind: Fleet\napiVersion: stable.agones.dev/v1alpha1\n") ==
        texts{"f.yaml:2: apiVersion: Fleet of \"stable.agones.dev/v1alpha1\" is not read: use agones.dev/v1"});
  CHECK(errors_of("kind: GameServerAllocationPolicy\napiVersion: agones.dev/v1\n") ==
        texts{"f.yaml:2: apiVersion: GameServerAllocationPolicy of \"agones.dev/v1\" is not read: use "
              "multicluster.agones.dev/v1"});
  CHECK(errors_of("kind: List\napiVersion: v1\nitems: x\n") == texts{"f.yaml:3: items: must be a list"});
  CHECK(errors_of("kind: List\napiVersion: v1\nitems:\n- kind: List\n  apiVersion: v1\n  items: []\n") ==
        texts{"f.yaml:4: items[0]: a List within a List is not read"});
  CHECK(errors_of("kind: List\napiVersion: v1\nitems:\n- kind: Fleet\n  apiVersion: agones.dev/v1\n  metadata: {name: "
                  "a}\n  spec:\n    replicas: -3\n") ==
        texts{"f.yaml:8: items[0].spec.replicas: -3 must not be negative"});
}

TEST_CASE("all problems are listed, up to a bound") {
  std::string text;
  for (int i = 0; i < 100; ++i) text += fleet_with("", "-1", "f" + std::to_string(i)) + "---\n";
  CHECK(errors_of(text).size() == 50);
  CHECK(errors_of(fleet_with("", "-1", "a") + "---\n" + fleet_with("", "-1", "b")).size() == 2);
}
