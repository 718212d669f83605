// Embedded fleets behind their API, asked without sockets, at times that the test rules.
#pragma once

#include "raw_client.hpp"

#include <agones_alloc/async/manual_timer.hpp>
#include <agones_alloc/async/memory_store.hpp>
#include <agones_alloc/beast/cluster_api/cluster_front_end.hpp>
#include <agones_alloc/embedded/embedded_cluster.hpp>
#include <agones_alloc/json/parse.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace beast_test {

using namespace agones_alloc;

class made_request final : public http_request {
 public:
  using fields = std::map<std::string, std::string>;
  made_request(std::string_view verb, std::string target, std::string text, fields headers)
      : target_{std::move(target)}, text_{std::move(text)}, headers_{std::move(headers)} {
    auto const mark = target_.find('?');
    method = verb;
    path = std::string_view{target_}.substr(0, mark);
    if (mark != std::string::npos) query = std::string_view{target_}.substr(mark + 1);
    body = text_;
  }
  auto header(std::string_view name) const -> std::string override {
    auto const at = headers_.find(std::string{name});
    return at == headers_.end() ? std::string{} : at->second;
  }
  void visit_headers(std::function<void(std::string_view, std::string_view)> const& visit) const override {
    for (auto const& [name, value] : headers_) visit(name, value);
  }

 private:
  std::string target_;
  std::string text_;
  fields headers_;
};

/// What a client reads of a stream.
class stream_reader {
 public:
  stream_reader(boost::asio::io_context& io, std::shared_ptr<http_body_stream> stream) : io_{&io}, stream_{std::move(stream)} {}

  /// Takes what there is now.
  auto read() -> std::string {
    settle(*io_);
    while (!*ended_ && !*waits_) {
      *waits_ = true;
      stream_->next([waits = waits_, ended = ended_, text = text_](http_body_stream::piece const& piece) {
        *waits = false;
        *ended = piece == nullptr;
        if (piece) *text += *piece;
      });
      settle(*io_);
    }
    return std::exchange(*text_, {});
  }
  /// The lines as JSON documents.
  auto events() -> std::vector<boost::json::value> {
    std::vector<boost::json::value> out;
    auto const text = read();
    for (std::size_t at = 0; at < text.size();) {
      auto const end = text.find('\n', at);
      REQUIRE(end != std::string::npos);
      out.push_back(parse_json(std::string_view{text}.substr(at, end - at)).value());
      at = end + 1;
    }
    return out;
  }
  auto ended() const -> bool { return *ended_; }
  void stop() { stream_->stop(); }

 private:
  boost::asio::io_context* io_;
  std::shared_ptr<http_body_stream> stream_;
  std::shared_ptr<bool> waits_ = std::make_shared<bool>(false);
  std::shared_ptr<bool> ended_ = std::make_shared<bool>(false);
  std::shared_ptr<std::string> text_ = std::make_shared<std::string>();
};

struct elsewhere final : http_handler {
  void handle(http_request const&, reply done) override { std::move(done)(text_response(418, "elsewhere")); }
};

inline auto quick_fleet(std::string name, std::string space, std::int32_t replicas, string_map labels = {}) -> fleet {
  fleet out;
  out.meta.name = std::move(name);
  out.meta.namespace_ = std::move(space);
  out.meta.labels = labels;
  out.replicas = replicas;
  out.server_template.labels = std::move(labels);
  out.server_template.ports = {{"default", "Dynamic", "UDP", 7654, 0}};
  out.server_template.spec = R"({"container":"game"})";
  return out;
}

inline auto quick_options() -> embedded_cluster_options {
  embedded_cluster_options out;
  out.simulator.settings.start_up = {};
  out.simulator.settings.session_length.reset();
  return out;
}

/// default/simple has 3 servers (mode=duel), games/other 2 (mode=race); all are Ready.
struct small_cluster {
  explicit small_cluster(cluster_api_options options = {}, memory_store_options stored = {})
      : store{io.get_executor(), with_clock(stored)},
        cluster{io.get_executor(), store, time, quick_options()},
        api{io.get_executor(), store, cluster, time, others, std::move(options)} {
    CHECK(cluster.add_fleet(quick_fleet("simple", "default", 3, {{"mode", "duel"}})).empty());
    CHECK(cluster.add_fleet(quick_fleet("other", "games", 2, {{"mode", "race"}})).empty());
    cluster.async_run([](error_code) {});
    until([&] { return store.size() == 5; });
  }
  ~small_cluster() {
    cluster.stop();
    settle(io);
  }

  auto with_clock(memory_store_options stored) -> memory_store_options {
    stored.clock = &time;
    return stored;
  }
  void until(std::function<bool()> const& done) {
    for (int turns = 0; !done(); ++turns) {
      REQUIRE(turns < 1000);
      settle(io);
      if (!done()) time.advance(std::chrono::milliseconds{50});
    }
    settle(io);
  }

  auto ask(std::string_view method, std::string target, std::string body = {}, made_request::fields fields = {}) -> http_response {
    made_request const request{method, std::move(target), std::move(body), std::move(fields)};
    http_response out;
    bool answered = false;
    api.handle(request, [&](http_response given) {
      out = std::move(given);
      answered = true;
    });
    REQUIRE(answered);
    return out;
  }
  auto get(std::string target, std::string accept = {}) -> http_response {
    return ask("GET", std::move(target), {}, {{"Accept", std::move(accept)}});
  }
  auto watch(std::string target, std::string accept = {}) -> stream_reader {
    auto answer = get(std::move(target), std::move(accept));
    CHECK(answer.status == 200);
    REQUIRE(answer.stream);
    return {io, std::move(answer.stream)};
  }
  /// Lets time go on until the stream has told of so many events.
  auto hear(stream_reader& stream, std::size_t count) -> std::vector<boost::json::value> {
    auto out = stream.events();
    for (int turns = 0; out.size() < count; ++turns) {
      REQUIRE(turns < 100);
      time.advance(std::chrono::milliseconds{20});
      for (auto& one : stream.events()) out.push_back(std::move(one));
    }
    return out;
  }
  /// The whole body, as JSON.
  auto json(http_response answer) -> boost::json::value {
    if (answer.stream) answer.body = stream_reader{io, std::move(answer.stream)}.read();
    return parse_json(answer.body).value();
  }
  auto list(std::string target) -> boost::json::value { return json(get(std::move(target))); }
  auto server_names(std::string const& space = "default") -> std::vector<shared_string> {
    std::vector<shared_string> out;
    for (auto const& one : store.list().servers) {
      if (one->meta.namespace_ == std::string_view{space}) out.push_back(one->meta.name);
    }
    return out;
  }
  void change(shared_string const& name, std::function<void(game_server&)> const& how) {
    CHECK(store.modify({"default", name}, how).has_value());
    settle(io);
  }
  void allocate(shared_string const& name) {
    change(name, [](game_server& one) { one.status.state = game_server_state::allocated; });
  }

  boost::asio::io_context io;
  manual_timer time{io.get_executor()};
  memory_store store;
  embedded_cluster cluster;
  elsewhere others;
  cluster_front_end api;
};

inline constexpr char const* as_table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
inline constexpr char const* all_servers = "/apis/agones.dev/v1/gameservers";
inline constexpr char const* servers_path = "/apis/agones.dev/v1/namespaces/default/gameservers";
inline constexpr char const* fleets_path = "/apis/agones.dev/v1/namespaces/default/fleets";

inline auto text_at(boost::json::value const& from, std::string_view pointer) -> std::string {
  boost::system::error_code ec;
  auto const* found = from.find_pointer(pointer, ec);
  if (found == nullptr) return {};
  return found->is_string() ? std::string{found->as_string()} : boost::json::serialize(*found);
}

}  // namespace beast_test
