// A front end behind a real listener, with a backend whose answers the test gives.
#pragma once

#include "raw_client.hpp"

#include <agones_alloc/async/manual_timer.hpp>
#include <agones_alloc/beast/allocation_backend.hpp>
#include <agones_alloc/beast/front_end_options.hpp>
#include <agones_alloc/beast/http_listener.hpp>
#include <agones_alloc/json/parse.hpp>

#include <boost/asio/append.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace beast_test {

/// Answers every call with `next`, or keeps it while `hold` is set.
class scripted_backend final : public agones_alloc::allocation_backend {
 public:
  void allocate(call c, handler done) override {
    calls.push_back(std::move(c));
    auto slot = boost::asio::get_associated_cancellation_slot(done);
    if (slot.is_connected()) slot.assign([this](boost::asio::cancellation_type) { ++cancelled; });
    held.push_back(std::make_unique<handler>(std::move(done)));
    if (!hold) release();
  }

  auto has_clusters() const noexcept -> bool override { return clusters; }

  void release() {
    auto done = std::move(held.front());
    held.erase(held.begin());
    boost::asio::get_associated_cancellation_slot(*done).clear();
    auto const executor = boost::asio::get_associated_executor(*done);
    boost::asio::dispatch(executor, boost::asio::append(std::move(*done), agones_alloc::error_code{}, next));
  }

  agones_alloc::allocation_result next;
  bool hold{false};
  bool clusters{false};  ///< several are understood
  int cancelled{0};
  std::vector<call> calls;
  std::vector<std::unique_ptr<handler>> held;
};

inline auto some_server() -> agones_alloc::game_server_ptr {
  agones_alloc::game_server server;
  server.meta.name = "gs1";
  server.meta.namespace_ = "default";
  server.meta.labels = {{"agones.dev/fleet", "simple"}};
  server.status.state = agones_alloc::game_server_state::allocated;
  server.status.address = "1.2.3.4";
  server.status.node_name = "node1";
  server.status.ports = {{"default", 7777}};
  server.status.counters["rooms"] = {1, 5};
  return std::make_shared<agones_alloc::game_server const>(std::move(server));
}

inline auto result_of(agones_alloc::outcome o) -> agones_alloc::allocation_result {
  agones_alloc::allocation_result out;
  out.result = o;
  if (o == agones_alloc::outcome::allocated) {
    out.server = some_server();
    out.source = "local";
  }
  if (o == agones_alloc::outcome::exhausted) {
    agones_alloc::breakdown left;
    left.selectors = {{{"namespace default", 12}, {"label agones.dev/fleet=x", 0}}};
    out.remaining = std::make_shared<agones_alloc::breakdown const>(left);
  }
  return out;
}

template <class FrontEnd>
struct served {
  explicit served(agones_alloc::front_end_options options = {}) : front_end{backend, time, options} {
    backend.next = result_of(agones_alloc::outcome::allocated);
    REQUIRE_FALSE(listener.listen("127.0.0.1", 0));
  }
  ~served() {
    listener.close();
    settle(io);
  }

  auto ask(std::string_view text, bool head_only = false) -> answer {
    raw_client client{io, listener.port()};
    return client.ask(text, head_only);
  }

  boost::asio::io_context io;
  agones_alloc::manual_timer time{io.get_executor()};
  scripted_backend backend;
  FrontEnd front_end;
  agones_alloc::http_listener listener{io.get_executor(), front_end, time};
};

inline auto request_text(std::string_view method, std::string_view target, std::string_view fields, std::string_view body)
    -> std::string {
  std::string out{method};
  out.append(" ").append(target).append(" HTTP/1.1\r\nHost: x\r\n").append(fields);
  if (!body.empty()) out.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n");
  return out.append("\r\n").append(body);
}

/// The value at a path of keys, as JSON text; "" where there is none.
inline auto json_at(std::string const& text, std::string_view pointer) -> std::string {
  auto const value = agones_alloc::parse_json(text);
  if (!value) return "no JSON: " + text;
  boost::system::error_code ec;
  auto const* found = value->find_pointer(pointer, ec);
  return found == nullptr ? std::string{} : boost::json::serialize(*found);
}

}  // namespace beast_test
