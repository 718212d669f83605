// sequence: whole allocations through the asynchronous allocator, its cache, its index and a store in memory.
#include "runner.hpp"
#include "wire.hpp"

#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/async/manual_timer.hpp>
#include <agones_alloc/async/memory_store.hpp>
#include <agones_alloc/cache/ready_cache.hpp>
#include <agones_alloc/json/response.hpp>
#include <agones_alloc/port/random.hpp>
#include <agones_alloc/select/apply.hpp>
#include <agones_alloc/select/request.hpp>

#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace conformance {
namespace {

namespace aa = agones_alloc;

auto options_of(aa::feature_gates gates) -> aa::allocator_options {
  aa::allocator_options out;
  out.gates = gates;
  return out;
}

/// One cluster: its store, a cache that knows all of it, and the allocator.
class world {
 public:
  explicit world(json::object const& input) : gates_{gates_of(input)} {
    for (auto const& server : input.at("gameServers").as_array()) {
      cache_.store(store_.create(read_server(server)).value());
    }
  }

  struct call {
    aa::request_ptr request;
    std::optional<aa::allocation_result> result;
  };

  auto begin(json::value const& request) -> call& {
    auto made = aa::allocation_request::make(read_allocation(request), gates_);
    auto const* valid = std::get_if<aa::request_ptr>(&made);
    if (valid == nullptr) throw std::runtime_error{"invalid request: " + to_string(std::get<aa::field_errors>(made))};
    auto& started = calls_[calls_.size()];
    started.request = *valid;
    allocator_.async_allocate(*valid, {}, [this, &started](aa::error_code, aa::allocation_result result) {
      started.result = std::move(result);
      completed_.push_back(&started);
    });
    return started;
  }

  /// Until every call has its result. Time moves only when nothing else can happen.
  void run() {
    for (int turn = 0; completed_.size() != calls_.size(); ++turn) {
      if (turn > 100'000) throw std::runtime_error{"an allocation does not end"};
      io_.restart();
      if (io_.poll() == 0 && !time_.advance_to_next()) throw std::runtime_error{"an allocation waits for nothing"};
    }
  }

  auto completed() const -> std::vector<call*> const& { return completed_; }
  auto gates() const -> aa::feature_gates { return gates_; }

 private:
  aa::feature_gates gates_;
  boost::asio::io_context io_{1};
  aa::manual_timer time_{io_.get_executor()};
  aa::memory_store store_{io_.get_executor(), aa::memory_store_options{.clock = &time_}};
  aa::ready_cache cache_;
  aa::seeded_random random_{1};
  aa::allocator allocator_{io_.get_executor(), cache_, store_, time_, random_, options_of(gates_)};
  std::map<std::size_t, call> calls_;
  std::vector<call*> completed_;
};

/// The vectors leave the time of allocation out, and what is empty then.
void erase_time(json::object& metadata) {
  auto* annotations = metadata.if_contains("annotations");
  if (annotations == nullptr || !annotations->is_object()) return;
  annotations->get_object().erase(aa::keys::last_allocated_annotation);
  if (annotations->get_object().empty()) metadata.erase("annotations");
}

auto status_of(world const& in, world::call const& done) -> json::value {
  auto status = written(aa::allocation_response(done.request->allocation(), *done.result, in.gates())).at("status");
  if (auto* metadata = status.as_object().if_contains("metadata")) erase_time(metadata->as_object());
  return status;
}

void run_sequential(json::object const& input, report& results) {
  world one{input};
  int number = 0;
  for (auto const& step : input.at("steps").as_array()) {
    auto const& done = one.begin(step.at("request"));
    one.run();
    results.expect("step " + std::to_string(number++) + " status", step.at("status"), status_of(one, done));
  }
}

/// What a batch step says of an allocated server; absent, null and empty are one.
auto server_facts(std::string_view name, json::value const& counters, json::value const& lists,
                  json::value const& labels) -> json::value {
  json::object out{{"gameServer", name}};
  auto const add = [&out](std::string_view key, json::value const& value) {
    if (value.is_object() && !value.get_object().empty()) out[key] = value;
  };
  add("counters", counters);
  add("lists", lists);
  add("labels", labels);
  return out;
}

auto member(json::value const& of, std::string_view key) -> json::value {
  auto const* value = of.as_object().if_contains(key);
  return value == nullptr ? json::value{} : *value;
}

auto facts_of(aa::game_server const& server) -> json::value {
  auto const shown = written(server);
  return server_facts(server.meta.name, member(shown.at("status"), "counters"), member(shown.at("status"), "lists"),
                      member(shown.at("metadata"), "labels"));
}

auto facts_of(world::call const& done) -> json::value {
  if (done.result->result == aa::outcome::allocated) return facts_of(*done.result->server);
  return {{"error", done.result->result == aa::outcome::exhausted ? "Could not find an Allocatable GameServer"
                                                                  : to_string(done.result->result)}};
}

auto facts_of(json::object const& step) -> json::value {
  if (auto const* error = step.if_contains("error")) return {{"error", *error}};
  return server_facts(text_of(step.at("gameServer")), step.at("counters"), step.at("lists"), step.at("labels"));
}

/// What an allocation leaves behind, but for its version and time.
auto comparable(aa::game_server server) -> aa::game_server {
  server.meta.resource_version = {};
  server.meta.generation = 0;
  server.meta.creation_timestamp = aa::unset_time;
  server.meta.annotations.erase(aa::keys::last_allocated_annotation);
  return server;
}

/// Replays our answers in the order they came, on plain values: each server must have matched when its turn came
/// and be what the rules make of it; where none was found, none may have matched.
auto fault_in_replay(json::object const& input, world const& done) -> std::string {
  std::map<std::string, aa::game_server> servers;
  for (auto const& one : input.at("gameServers").as_array()) {
    auto server = read_server(one);
    servers[server.meta.name.str()] = std::move(server);
  }
  auto const matches_one = [](aa::allocation_request const& request, aa::game_server const& server) {
    auto const& shapes = request.shapes();
    return std::any_of(shapes.begin(), shapes.end(), [&server](aa::view_shape const& shape) {
      return server.meta.namespace_ == shape.namespace_ && matches(shape.selector, server);
    });
  };
  for (auto const* call : done.completed()) {
    auto const& result = *call->result;
    if (result.result != aa::outcome::allocated) {
      for (auto const& [name, server] : servers) {
        if (matches_one(*call->request, server)) return "none was found although " + name + " matches";
      }
      continue;
    }
    auto& server = servers.at(result.server->meta.name.str());
    if (!matches_one(*call->request, server)) return server.meta.name.str() + " did not match when it was handed out";
    apply_allocation(server, call->request->allocation().spec, done.gates(), {});
    if (comparable(server) != comparable(*result.server))
      return server.meta.name.str() + " is not what the rules make of it";
  }
  return {};
}

void run_batch(json::object const& input, report& results) {
  world all{input};
  std::vector<world::call const*> calls;
  for (auto const& step : input.at("steps").as_array()) calls.push_back(&all.begin(step.at("request")));
  all.run();
  json::array theirs;
  json::array ours;
  for (auto const& step : input.at("steps").as_array()) theirs.push_back(facts_of(step.as_object()));
  for (auto const* call : calls) ours.push_back(facts_of(*call));
  results.expect("answers", std::move(theirs), std::move(ours));
  if (auto const fault = fault_in_replay(input, all); !fault.empty()) results.fail("replay", fault);
}

void run_sequence(json::object const& input, report& results) {
  auto const mode = text_of(input.at("mode"));
  if (mode == "sequential") return run_sequential(input, results);
  if (mode == "batch") return run_batch(input, results);
  results.fail("mode", "unknown mode " + std::string{mode});
}

registration const sequence{"sequence", &run_sequence};

}  // namespace
}  // namespace conformance
