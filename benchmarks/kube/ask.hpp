// Plain requests to an API server.
#pragma once

#include "loop.hpp"
#include "settings.hpp"

#include <agones_alloc/beast/client/http_client.hpp>

#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace bench {

inline auto request(std::string method, std::string target, std::string body = {}, std::string type = "application/json")
    -> agones_alloc::client_request {
  agones_alloc::client_request out;
  out.method = std::move(method);
  out.target = std::move(target);
  if (!body.empty()) out.content_type = std::move(type);
  out.body = std::move(body);
  out.headers.emplace_back("Accept", "application/json");
  return out;
}

/// Throws unless the answer is one of `good`.
inline void expect(agones_alloc::error_code ec, agones_alloc::client_response const& answer, std::initializer_list<int> good,
                   std::string const& what) {
  if (ec) throw std::runtime_error{what + ": " + ec.message()};
  for (int const status : good) {
    if (status == answer.status) return;
  }
  throw std::runtime_error{what + ": HTTP " + std::to_string(answer.status) + ' ' + answer.body.substr(0, 500)};
}

/// Waits for the answer.
inline auto ask(environment& env, agones_alloc::http_client& client, agones_alloc::client_request wanted,
                std::initializer_list<int> good) -> agones_alloc::client_response {
  auto const what = wanted.method + ' ' + wanted.target;
  std::optional<agones_alloc::client_response> got;
  client.async_request(std::move(wanted), [&](agones_alloc::error_code ec, agones_alloc::client_response answer) {
    expect(ec, answer, good, what);
    got = std::move(answer);
  });
  run_until(env.io, [&] { return got.has_value(); });
  return *std::move(got);
}

/// Opens the connections, so that no measurement begins with handshakes.
inline void warm_up(environment& env, agones_alloc::http_client& client, std::size_t connections) {
  closed_loop(env.io, connections, connections, [&](std::size_t, std::size_t, auto done) {
    client.async_request(request("GET", "/version"), [done](agones_alloc::error_code ec, agones_alloc::client_response const& answer) {
      expect(ec, answer, {200}, "GET /version");
      done();
    });
  });
}

}  // namespace bench
