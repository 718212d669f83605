#include "scripted_client.hpp"

#include <agones_alloc/async/manual_timer.hpp>
#include <agones_alloc/beast/front_proxy.hpp>
#include <agones_alloc/beast/identity_gate.hpp>
#include <agones_alloc/beast/kubernetes/front_proxy_source.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace agones_alloc;
using namespace std::chrono_literals;

namespace {

using fields = std::vector<std::pair<std::string, std::string>>;

struct fake_request final : http_request {
  explicit fake_request(fields from) : all{std::move(from)} {
    method = "POST";
    path = "/p";
  }
  auto header(std::string_view name) const -> std::string override {
    for (auto const& [field, value] : all) {
      if (boost::beast::iequals(field, boost::beast::string_view{name.data(), name.size()})) return value;
    }
    return {};
  }
  void visit_headers(std::function<void(std::string_view, std::string_view)> const& visit) const override {
    for (auto const& [field, value] : all) visit(field, value);
  }
  fields all;
};

/// Keeps what it was asked.
struct behind final : http_handler {
  void handle(http_request const& request, reply done) override {
    ++asked;
    who = request.caller == nullptr ? caller_identity{} : *request.caller;
    seen.clear();
    request.visit_headers([&](std::string_view name, std::string_view value) { seen.emplace_back(name, value); });
    user_field = request.header("x-remote-user");
    path = request.path;
    slot_connected = boost::asio::get_associated_cancellation_slot(done).is_connected();
    std::move(done)(text_response(200, "ok"));
  }
  int asked{0};
  caller_identity who;
  fields seen;
  std::string user_field, path;
  bool slot_connected{false};
};

auto certificate(std::string name, bool proxy, bool client = false) -> client_certificate {
  client_certificate out;
  out.common_name = std::move(name);
  out.organizations = {"org"};
  out.by_front_proxy = proxy;
  out.by_client_authority = client;
  return out;
}

struct gated {
  explicit gated(identity_gate_options options = {}) : gate{handler, std::move(options)} {}

  auto ask(client_certificate const* shown, fields with = {}) -> int {
    fake_request request{std::move(with)};
    request.client = shown;
    last.reset();
    boost::asio::cancellation_signal signal;
    gate.handle(request, http_handler::reply{boost::asio::bind_cancellation_slot(
                             signal.slot(), boost::asio::bind_executor(boost::asio::system_executor{},
                                                                       [this](http_response r) { last = std::move(r); }))});
    REQUIRE(last.has_value());
    return last->status;
  }

  behind handler;
  identity_gate gate;
  std::optional<http_response> last;
};

auto believing(std::vector<std::string> names = {"proxy"}) -> identity_gate_options {
  identity_gate_options out;
  out.front_proxy.emplace().allowed_names = std::move(names);
  return out;
}

fields const alice = {{"X-Remote-User", "alice"},        {"X-Remote-Group", "players"}, {"Accept", "application/json"},
                      {"x-remote-group", "staff,night"}, {"X-Remote-Uid", "u-1"},       {"X-Remote-Extra-Scopes%2fa", "one"},
                      {"X-Remote-Extra-scopes%2Fa", "two"}};

}  // namespace

TEST_CASE("A front proxy's fields tell who asks, and are not passed on") {
  gated g{believing()};
  auto const proxy = certificate("proxy", true);
  CHECK(g.ask(&proxy, alice) == 200);
  CHECK(g.handler.who.source == identity_source::front_proxy);
  CHECK(g.handler.who.user == "alice");
  CHECK(g.handler.who.uid == "u-1");
  CHECK(g.handler.who.groups == std::vector<std::string>{"players", "staff,night"});
  CHECK(g.handler.who.extra == fields{{"scopes/a", "one"}, {"scopes/a", "two"}});
  CHECK(g.handler.seen == fields{{"Accept", "application/json"}});
  CHECK(g.handler.user_field == "");
  CHECK(g.handler.path == "/p");
  CHECK(g.handler.slot_connected);  // cancellation goes through
}

TEST_CASE("Nobody else is believed") {
  gated g{believing()};
  CHECK(g.ask(nullptr, alice) == 401);
  auto const another = certificate("mallory", true);  // of the right authority
  CHECK(g.ask(&another, alice) == 403);
  auto const client = certificate("proxy", false, true);  // the right name, of another authority
  CHECK(g.ask(&client, alice) == 403);
  CHECK(g.handler.asked == 0);
  CHECK(g.last->body.find("\"kind\":\"Status\"") != std::string::npos);
  CHECK(g.last->body.find("\"reason\":\"Forbidden\"") != std::string::npos);
}

TEST_CASE("A front proxy has to say who asks") {
  gated g{believing()};
  auto const proxy = certificate("proxy", true);
  CHECK(g.ask(&proxy) == 401);
  CHECK(g.ask(&proxy, {{"X-Remote-User", ""}}) == 401);
  CHECK(g.ask(&proxy, {{"X_Remote_User", "alice"}}) == 401);  // not what a proxy would have removed
  CHECK(g.handler.asked == 0);
}

TEST_CASE("No allowed names are all names of the authority") {
  gated g{believing({})};
  auto const proxy = certificate("whoever", true);
  CHECK(g.ask(&proxy, alice) == 200);
}

TEST_CASE("A client's own certificate counts where that is allowed, whatever its fields say") {
  auto options = believing();
  options.certificates = true;
  gated g{options};
  auto const client = certificate("match-maker", false, true);
  CHECK(g.ask(&client, alice) == 200);
  CHECK(g.handler.who.source == identity_source::certificate);
  CHECK(g.handler.who.user == "match-maker");
  CHECK(g.handler.who.groups == std::vector<std::string>{"org"});
  CHECK(g.handler.who.extra.empty());
  CHECK(g.handler.seen == fields{{"Accept", "application/json"}});
  CHECK(g.ask(nullptr) == 401);
}

TEST_CASE("Where everybody may ask, fields still say nothing about who does") {
  identity_gate_options options;
  options.anybody = true;
  gated g{options};
  auto with = alice;
  with.emplace_back("x_remote_user", "alice");
  CHECK(g.ask(nullptr, with) == 200);
  CHECK(g.handler.who.source == identity_source::anonymous);
  CHECK(g.handler.who.user == "");
  CHECK(g.handler.seen == fields{{"Accept", "application/json"}});
  CHECK(g.handler.user_field == "");
}

TEST_CASE("The names of the fields can be others, and the first that is there counts") {
  auto options = believing();
  options.front_proxy->username_headers = {"X-First", "X-Second"};
  options.front_proxy->extra_header_prefixes = {"X-More-"};
  gated g{options};
  auto const proxy = certificate("proxy", true);
  CHECK(g.ask(&proxy, {{"x-second", "b"}, {"X-First", "a"}, {"X-More-Key", "v"}, {"X-Remote-User", "alice"}}) == 200);
  CHECK(g.handler.who.user == "a");
  CHECK(g.handler.who.extra == fields{{"key", "v"}});
  CHECK(g.handler.seen == fields{{"X-Remote-User", "alice"}});
  CHECK(g.ask(&proxy, {{"x-second", "b"}}) == 200);
  CHECK(g.handler.who.user == "b");
}

TEST_CASE("Other rules count from the next request on") {
  gated g{believing()};
  auto const proxy = certificate("next", true);
  CHECK(g.ask(&proxy, alice) == 403);
  front_proxy_rules rules;
  rules.allowed_names = {"next"};
  g.gate.use(rules);
  CHECK(g.ask(&proxy, alice) == 200);
}

TEST_CASE("The rules are read from the ConfigMap of the API server") {
  std::string problem;
  auto const rules = read_front_proxy_rules(
      R"({"kind":"ConfigMap","data":{"client-ca-file":"C","requestheader-client-ca-file":"PEM",
          "requestheader-allowed-names":"[\"front-proxy-client\"]","requestheader-username-headers":"[\"X-U\",\"X-V\"]",
          "requestheader-group-headers":"[\"X-G\"]","requestheader-extra-headers-prefix":"[\"X-E-\"]"}})",
      problem);
  REQUIRE(rules);
  CHECK(rules->authorities == "PEM");
  CHECK(rules->allowed_names == std::vector<std::string>{"front-proxy-client"});
  CHECK(rules->username_headers == std::vector<std::string>{"X-U", "X-V"});
  CHECK(rules->uid_headers == std::vector<std::string>{"X-Remote-Uid"});
  CHECK(rules->group_headers == std::vector<std::string>{"X-G"});
  CHECK(rules->extra_header_prefixes == std::vector<std::string>{"X-E-"});
}

TEST_CASE("A ConfigMap that is wrong is refused by the name of its field") {
  std::string problem;
  for (auto const* text : {"", "[]", "{}", R"({"data":7})"}) {
    problem.clear();
    CHECK_FALSE(read_front_proxy_rules(text, problem));
    CHECK(problem == "is no ConfigMap with data");
  }
  for (auto const* value : {"7", "\"x\"", R"("[7]")", R"("[\"\"]")", R"("{}")"}) {
    CHECK_FALSE(read_front_proxy_rules(R"({"data":{"requestheader-allowed-names":)" + std::string{value} + "}}", problem));
    CHECK(problem == "requestheader-allowed-names is no list of names");
  }
}

TEST_CASE("The ConfigMap is read at the start, each minute, and soon again when that fails") {
  boost::asio::io_context io;
  manual_timer time{io.get_executor()};
  beast_tests::scripted_client client{io.get_executor()};
  std::vector<front_proxy_rules> told;
  front_proxy_source source{io.get_executor(), client, time, [&](auto const& rules) { told.push_back(rules); }};
  auto const run = [&] {
    io.restart();
    io.poll();
  };
  auto const document = [](std::string const& pem) {
    return R"({"data":{"requestheader-client-ca-file":")" + pem + R"(","requestheader-allowed-names":"[\"p\"]"}})";
  };
  source.start();
  REQUIRE(client.calls() == 1);
  CHECK(client.request(0).target == "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication");
  client.answer(0, 403, "{}");
  run();
  CHECK_FALSE(source.known());
  time.advance(2s);
  run();
  REQUIRE(client.calls() == 2);
  client.answer(1, 200, document("A"));
  run();
  CHECK(source.known());
  REQUIRE(told.size() == 1);
  CHECK(told[0].authorities == "A");
  time.advance(59s);
  run();
  CHECK(client.calls() == 2);
  time.advance(1s);
  run();
  REQUIRE(client.calls() == 3);
  client.answer(2, 200, document("A"));  // nothing new
  run();
  CHECK(told.size() == 1);
  time.advance(60s);
  run();
  client.answer(3, 200, R"({"data":{}})");  // an API server without a front proxy: the last rules stay
  run();
  CHECK(told.size() == 1);
  time.advance(2s);
  run();
  client.answer(4, 200, document("B"));
  run();
  REQUIRE(told.size() == 2);
  CHECK(told[1].authorities == "B");
  source.stop();
  run();
  CHECK(time.pending() == 0);
}
