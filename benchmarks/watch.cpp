// How fast is a watch taken in, next to Boost.JSON's own parser on the same bytes?
//
// The stream is made in memory: GameServers with a pod template and managedFields, as an API server sends them, in
// chunks of 16 KiB. Ours makes game servers of them and puts them into a ready cache; the parser only makes values, one a line, in
// storage that it may reuse. Rounds alternate; medians count.
#include "in_turn.hpp"

#include <agones_alloc/cache/ready_cache.hpp>
#include <agones_alloc/json/read_game_server.hpp>
#include <agones_alloc/json/watch_reader.hpp>

#include <CLI/CLI.hpp>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/stream_parser.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace agones_alloc;

struct settings {
  bool json{false};
  std::size_t servers{2'000};
  std::size_t events{20'000};
  std::size_t rounds{5};
  std::size_t chunk{16 * 1024};
};

/// Each server in turn becomes Allocated, then Ready again.
auto event_text(std::size_t number, std::size_t servers) -> std::string {
  auto const i = std::to_string(number % servers);
  auto const version = std::to_string(100'000 + number);
  return R"({"type":"MODIFIED","object":{"apiVersion":"agones.dev/v1","kind":"GameServer","metadata":{"annotations":)"
         R"({"agones.dev/ready-container-id":"containerd://0123456789abcdef","agones.dev/sdk-version":"1.57.0"},"creationTimestamp":)"
         R"("2026-11-29T10:00:00Z","finalizers":["agones.dev/controller"],"generateName":"simple-x7x2k-","generation":6,"labels":)"
         R"({"agones.dev/fleet":"simple","agones.dev/gameserverset":"simple-x7x2k"},"managedFields":[)"
         R"({"apiVersion":"agones.dev/v1","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},)"
         R"("f:agones.dev/ready-container-id":{},"f:agones.dev/sdk-version":{}},"f:finalizers":{".":{},"v:\"agones.dev/controller\"":{}},)"
         R"("f:labels":{".":{},"f:agones.dev/fleet":{},"f:agones.dev/gameserverset":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"u\"}":{}}},)"
         R"("f:spec":{".":{},"f:container":{},"f:health":{},"f:ports":{},"f:scheduling":{},"f:template":{}},"f:status":{".":{},"f:address":{},)"
         R"("f:nodeName":{},"f:ports":{},"f:state":{}}},"manager":"controller","operation":"Update","time":"2026-11-29T10:00:01Z"}],)"
         R"("name":"simple-x7x2k-)" + i + R"(","namespace":"default","ownerReferences":[{"apiVersion":"agones.dev/v1",)"
         R"("blockOwnerDeletion":true,"controller":true,"kind":"GameServerSet","name":"simple-x7x2k","uid":"6e3d7f7e-0000-4000-8000-000000000000"}],)"
         R"("resourceVersion":")" + version + R"(","uid":"5b1f6c1e-0000-4000-8000-)" + i + R"("},"spec":{"container":"simple",)"
         R"("health":{"failureThreshold":3,"initialDelaySeconds":5,"periodSeconds":5},"ports":[{"container":"simple","containerPort":7654,)"
         R"("hostPort":7412,"name":"default","portPolicy":"Dynamic","protocol":"UDP"}],"scheduling":"Packed","sdkServer":{"grpcPort":9357,)"
         R"("httpPort":9358,"logLevel":"Info"},"template":{"metadata":{"creationTimestamp":null},"spec":{"affinity":{"podAffinity":)"
         R"({"preferredDuringSchedulingIgnoredDuringExecution":[{"podAffinityTerm":{"labelSelector":{"matchLabels":{"agones.dev/role":)"
         R"("gameserver"}},"topologyKey":"kubernetes.io/hostname"},"weight":100}]}},"containers":[{"env":[{"name":"AGONES_SDK_GRPC_PORT",)"
         R"("value":"9357"},{"name":"AGONES_SDK_HTTP_PORT","value":"9358"}],"image":"registry.example/simple-game-server:0.39","livenessProbe":)"
         R"({"failureThreshold":3,"httpGet":{"path":"/gshealthz","port":8080},"initialDelaySeconds":5,"periodSeconds":5},"name":"simple",)"
         R"("resources":{"limits":{"cpu":"20m","memory":"64Mi"},"requests":{"cpu":"20m","memory":"64Mi"}}}]}}},"status":{"address":)"
         R"("192.0.2.7","addresses":[{"address":"192.0.2.7","type":"InternalIP"},{"address":"node-1","type":"Hostname"}],"nodeName":"node-1",)"
         R"("players":null,"ports":[{"name":"default","port":7412}],"reservedUntil":null,"state":")" + (number / servers % 2 == 0 ? "Ready" : "Allocated") + "\"}}}\n";
}

template <class Feed>
auto seconds(std::string_view stream, std::size_t chunk, Feed feed) -> double {
  auto const start = std::clock();  // of this process: other load on the machine does not count
  while (!stream.empty()) {
    auto const piece = stream.substr(0, chunk);
    stream.remove_prefix(piece.size());
    feed(piece);
  }
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

auto take_in(std::string_view stream, settings const& with) -> double {
  ready_cache cache;
  watch_reader reader{"1"};
  std::size_t taken = 0;
  auto const took = seconds(stream, with.chunk, [&](std::string_view piece) {
    while (true) {
      auto const event = reader.next(piece);
      if (!event || *event == nullptr) break;
      auto server = read_game_server(*(*event)->object, {.check_quantities = false});
      if (!server) break;
      cache.store(std::make_shared<game_server const>(*std::move(server)));
      ++taken;
    }
  });
  if (taken != with.events || cache.size() != std::min(with.servers, with.events)) std::abort();
  return took;
}

auto parse_only(std::string_view stream, settings const& with) -> double {
  static std::array<unsigned char, 64 * 1024> block;
  boost::json::monotonic_resource storage{block.data(), block.size()};
  boost::json::stream_parser parser;
  parser.reset(&storage);
  std::size_t taken = 0;
  auto const took = seconds(stream, with.chunk, [&](std::string_view piece) {
    while (!piece.empty()) {
      piece.remove_prefix(parser.write_some(piece.data(), piece.size()));
      if (!parser.done()) break;
      {
        auto const value = parser.release();
        taken += value.as_object().size() == 2 ? 1 : 0;
      }
      parser.reset();
      storage.release();
      parser.reset(&storage);
      piece.remove_prefix(std::min(piece.find_first_not_of('\n'), piece.size()));
    }
  });
  if (taken != with.events) std::abort();
  return took;
}

}  // namespace

auto main(int argc, char** argv) -> int {
  settings with;
  CLI::App app{"Takes in a watch of game servers, next to Boost.JSON's parser on the same bytes."};
  app.add_flag("--json", with.json, "One JSON object");
  app.add_option("--servers", with.servers, "Different game servers")->check(CLI::Range(1, 1'000'000))->capture_default_str();
  app.add_option("--events", with.events, "Events in the stream")->check(CLI::Range(1, 1'000'000))->capture_default_str();
  bench::add_rounds(app, with.rounds);
  app.add_option("--chunk", with.chunk, "Bytes read at once")->check(CLI::Range(1, 1 << 24))->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  std::string stream;
  for (std::size_t i = 0; i < with.events; ++i) stream += event_text(i, with.servers);
  auto const rate_of = [&](auto read) { return static_cast<double>(stream.size()) / read(stream, with); };
  auto const found = bench::in_turn(with.rounds, [&] { return rate_of(parse_only); }, [&] { return rate_of(take_in); });
  char const* const shape = with.json ? "{\"bytes_per_second\":%.0f,\"parser_bytes_per_second\":%.0f,\"ratio\":%.3f}\n"
                                      : "ours %.0f bytes/s, Boost.JSON's parser %.0f bytes/s, ratio %.3f\n";
  std::printf(shape, found.ours, found.baseline, found.ratio());
  return 0;
}
