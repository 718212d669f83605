// Namespaces of game servers on the cluster, which go when they are no longer needed.
#pragma once

#include "ask.hpp"
#include "game_server_text.hpp"

#include <agones_alloc/beast/kubernetes/api_path.hpp>
#include <agones_alloc/beast/kubernetes/kubernetes_source.hpp>

#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>

namespace bench {

/// So many ready game servers in a namespace of their own.
class stock {
 public:
  static constexpr agones_alloc::api_resource kind{"agones.dev/v1", "gameservers"};

  stock(environment& env, std::string ns, std::size_t size)
      : env_{env}, client_{env.make_client(callers)}, ns_{std::move(ns)}, size_{size} {
    auto const text = R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")" + ns_ + R"("}})";
    ask(env_, *client_, request("POST", "/api/v1/namespaces", text), {201});
    std::fprintf(stderr, "namespace %s: making %zu game servers\n", ns_.c_str(), size_);
    try {
      each(env_, *client_, size_, [&](std::size_t i) {
        return request("POST", agones_alloc::collection_path(kind, ns_), game_server_text(i, size_));
      }, {201});
    } catch (std::exception const& e) {
      std::fprintf(stderr, "giving up: %s\n", e.what());  // at once: removing takes its time
      remove();
      throw;
    }
  }
  ~stock() { remove(); }
  stock(stock const&) = delete;
  auto operator=(stock const&) -> stock& = delete;

  auto ns() const -> std::string const& { return ns_; }

  /// As the API server has them now.
  auto list() -> std::vector<agones_alloc::game_server_ptr> {
    agones_alloc::kubernetes_source source{env_.io.get_executor(), *client_, env_.time, {.ns = ns_}};
    for (int tries = 1;; ++tries) {
      std::optional<agones_alloc::error_code> ended;
      agones_alloc::server_list all;
      source.async_list([&](agones_alloc::error_code ec, agones_alloc::server_list listed) {
        all = std::move(listed);
        ended = ec;
      });
      run_until(env_.io, [&] { return ended.has_value(); });
      if (!*ended) return std::move(all.servers);
      // An API server that is kept busy may answer a list with a failure.
      if (tries == 5) throw std::runtime_error{"listing " + ns_ + ": " + ended->message()};
    }
  }

  auto allocated() -> std::size_t {
    std::size_t out = 0;
    for (auto const& server : list()) out += server->status.state == agones_alloc::game_server_state::allocated ? 1 : 0;
    return out;
  }

  /// All are ready again.
  void refill() {
    std::vector<std::string> names;
    for (auto const& server : list()) {
      if (server->status.state != agones_alloc::game_server_state::ready) names.emplace_back(server->meta.name.view());
    }
    each(env_, *client_, names.size(), [&](std::size_t i) {
      return request("PATCH", agones_alloc::object_path(kind, ns_, names[i]), R"({"status":{"state":"Ready"}})",
                     "application/merge-patch+json");
    }, {200});
  }

 private:
  static constexpr std::size_t callers = 64;

  template <class Make>
  static void each(environment& env, agones_alloc::http_client& client, std::size_t count, Make make,
                   std::initializer_list<int> good) {
    closed_loop(env.io, count, callers, [&](std::size_t i, std::size_t, auto done) {
      client.async_request(make(i), [good, done](agones_alloc::error_code ec, agones_alloc::client_response const& answer) {
        expect(ec, answer, good, "a game server");
        done();
      });
    });
  }

  // One by one: a request for all of them may take longer than the API server allows. Where no controller works,
  // as on a test cluster, the empty namespace stays behind. On an event loop of its own, as the other one may have been
  // left in the midst of something.
  void remove() noexcept {
    interrupted = 0;
    try {
      std::fprintf(stderr, "namespace %s: removing it\n", ns_.c_str());
      environment apart{env_.want, env_.target};
      auto const client = apart.make_client(callers);
      each(apart, *client, size_, [&](std::size_t i) {
        return request("DELETE", agones_alloc::object_path(kind, ns_, server_name(i)));
      }, {200, 202, 404});
      ask(apart, *client, request("DELETE", "/api/v1/namespaces/" + ns_), {200, 202, 404, 409});
    } catch (std::exception const& e) {
      std::fprintf(stderr, "kube: namespace %s was not removed: %s\n", ns_.c_str(), e.what());
    }
  }

  environment& env_;
  std::unique_ptr<agones_alloc::pooled_http_client> client_;
  std::string ns_;
  std::size_t size_;
};

}  // namespace bench
