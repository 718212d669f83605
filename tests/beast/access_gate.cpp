#include "scripted_client.hpp"

#include <agones_alloc/async/manual_timer.hpp>
#include <agones_alloc/beast/access_gate.hpp>
#include <agones_alloc/beast/kubernetes/access_reviewer.hpp>
#include <agones_alloc/beast/kubernetes_front_end.hpp>
#include <agones_alloc/beast/rest_front_end.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>
#include <doctest/doctest.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace agones_alloc;
using namespace std::chrono_literals;

namespace {

struct plain_request final : http_request {
  auto header(std::string_view name) const -> std::string override { return name == "Authorization" ? authorization : ""; }
  void visit_headers(std::function<void(std::string_view, std::string_view)> const& visit) const override {
    visit("Authorization", authorization);
  }
  std::string authorization;
};

/// Keeps who asked.
struct front final : http_handler {
  void handle(http_request const& request, reply done) override {
    callers.push_back(request.caller == nullptr ? caller_identity{} : *request.caller);
    connected = boost::asio::get_associated_cancellation_slot(done).is_connected();
    std::move(done)(text_response(200, "ok"));
  }
  std::vector<caller_identity> callers;
  bool connected{false};
};

struct lines final : logger {
  void log(severity, std::string_view message, std::initializer_list<field> fields) override {
    std::string line{message};
    for (auto const& [name, value] : fields) line.append(" ").append(name).append("=").append(value);
    all.push_back(std::move(line));
  }
  std::vector<std::string> all;
};

/// A request, and its answer once there is one.
struct asking {
  plain_request request;
  caller_identity who;
  boost::asio::cancellation_signal leave;
  std::optional<http_response> answer;
};

auto token_answer(std::string const& user, std::string const& more = "") -> std::string {
  return R"({"kind":"TokenReview","status":{"authenticated":true,"user":{"username":")" + user + "\"" + more + "}}}";
}
auto access_answer_of(bool allowed, std::string const& more = "") -> std::string {
  return std::string{R"({"kind":"SubjectAccessReview","status":{"allowed":)"} + (allowed ? "true" : "false") + more + "}}";
}

struct guarded {
  explicit guarded(access_reviewer_options options = {}) : reviewer{io.get_executor(), client, time, with_log(options)} {}

  auto with_log(access_reviewer_options options) -> access_reviewer_options {
    options.log = &log;
    return options;
  }
  auto ask(std::string const& token, std::string const& ns = "games",
           identity_source by = identity_source::anonymous) -> std::shared_ptr<asking> {
    return ask_as(token.empty() ? token : "Bearer " + token, ns, by);
  }
  auto ask_as(std::string authorization, std::string const& ns = "games",
              identity_source by = identity_source::anonymous) -> std::shared_ptr<asking> {
    auto const one = std::make_shared<asking>();
    one->request.method = "POST";
    paths.push_back("/apis/allocation.agones.dev/v1/namespaces/" + ns + "/gameserverallocations");
    one->request.path = paths.back();
    one->request.authorization = std::move(authorization);
    one->who.source = by;
    one->who.user = by == identity_source::anonymous ? "" : "match-maker";
    if (by != identity_source::anonymous) one->who.groups = {"org"};
    one->request.caller = &one->who;
    gate.handle(one->request, http_handler::reply{boost::asio::bind_cancellation_slot(
                                  one->leave.slot(), boost::asio::bind_executor(io.get_executor(), [one](http_response r) {
                                    one->answer = std::move(r);
                                  }))});
    run();
    return one;
  }
  void run() {
    io.restart();
    io.poll();
  }
  void answer(int status, std::string body) {
    client.answer(client.last(), status, std::move(body));
    run();
  }
  auto body() -> boost::json::value { return boost::json::parse(client.request(client.last()).body); }

  boost::asio::io_context io;
  manual_timer time{io.get_executor()};
  beast_tests::scripted_client client{io.get_executor()};
  lines log;
  std::deque<std::string> paths;
  front handler;
  access_reviewer reviewer;
  access_gate gate{handler, reviewer, kubernetes_namespace_of};
};

auto holds(std::string const& text, std::string_view part) -> bool { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("What a front proxy has sent goes on, and nobody is asked") {
  guarded g;
  auto const one = g.ask("", "games", identity_source::front_proxy);
  REQUIRE(one->answer);
  CHECK(one->answer->status == 200);
  CHECK(g.handler.callers.at(0).user == "match-maker");
  CHECK(g.client.calls() == 0);
}

TEST_CASE("A token is reviewed, and then what its holder may do in the namespace") {
  guarded g;
  auto const one = g.ask("secret.token");
  REQUIRE(g.client.calls() == 1);
  CHECK(g.client.request(0).method == "POST");
  CHECK(g.client.request(0).target == "/apis/authentication.k8s.io/v1/tokenreviews");
  CHECK(g.body() == boost::json::parse(
                        R"({"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","spec":{"token":"secret.token"}})"));
  g.answer(201, token_answer("ann", R"(,"uid":"u-1","groups":["players","system:authenticated"],"extra":{"k":["a","b"]})"));
  CHECK_FALSE(one->answer);
  REQUIRE(g.client.calls() == 2);
  CHECK(g.client.request(1).target == "/apis/authorization.k8s.io/v1/subjectaccessreviews");
  CHECK(g.body() == boost::json::parse(R"({"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1","spec":{
      "user":"ann","uid":"u-1","groups":["players","system:authenticated"],"extra":{"k":["a","b"]},
      "resourceAttributes":{"namespace":"games","verb":"create","group":"allocation.agones.dev","version":"v1",
                            "resource":"gameserverallocations"}}})"));
  g.answer(201, access_answer_of(true));
  REQUIRE(one->answer);
  CHECK(one->answer->status == 200);
  REQUIRE(g.handler.callers.size() == 1);
  CHECK(g.handler.callers[0].source == identity_source::token);
  CHECK(g.handler.callers[0].user == "ann");
  CHECK(g.handler.callers[0].extra.size() == 2);
  CHECK(g.handler.connected);  // cancellation goes on to the handler
}

TEST_CASE("A certificate's name is authorized, as a user that is authenticated") {
  guarded g;
  auto const one = g.ask("", "games", identity_source::certificate);
  REQUIRE(g.client.calls() == 1);
  auto const spec = g.body().at("spec");
  CHECK(spec.at("user") == "match-maker");
  CHECK(spec.at("groups") == boost::json::parse(R"(["org","system:authenticated"])"));
  g.answer(201, access_answer_of(false, R"(,"reason":"no role")"));
  REQUIRE(one->answer);
  CHECK(one->answer->status == 403);
  CHECK(holds(one->answer->body, R"(User \"match-maker\" cannot create resource \"gameserverallocations\")"));
  CHECK(holds(one->answer->body, R"(in the namespace \"games\": no role)"));
  CHECK(holds(one->answer->body, R"("reason":"Forbidden")"));
  CHECK(g.handler.callers.empty());
}

TEST_CASE("Without a token that can be one, nobody is asked") {
  guarded g;
  for (auto const* token : {"", "two words", "a\"b", "\xc3\xa4"}) {
    auto const one = g.ask(token);
    REQUIRE(one->answer);
    CHECK(one->answer->status == 401);
  }
  CHECK(g.client.calls() == 0);
}

TEST_CASE("The word Bearer is one in any case, another scheme is none") {
  guarded g;
  for (auto const* field : {"bearer t", "BEARER  t", "Bearer t"}) {
    CHECK(g.ask_as(field)->answer.has_value() == false);
    g.answer(201, R"({"kind":"TokenReview","status":{}})");
    g.time.advance(10s);
  }
  for (auto const* field : {"Basic dDp0", "Bearer", "Bearer ", "Bearert", "t"}) {
    CHECK(g.ask_as(field)->answer.value().status == 401);
  }
  CHECK(g.client.calls() == 3);
}

TEST_CASE("A token that is nobody's is refused, also when the answer has no user") {
  guarded g;
  auto one = g.ask("a");
  g.answer(201, R"({"kind":"TokenReview","status":{"authenticated":false,"error":"expired"}})");
  CHECK(one->answer.value().status == 401);
  one = g.ask("b");
  g.answer(201, R"({"kind":"TokenReview","status":{"authenticated":true}})");
  CHECK(one->answer.value().status == 401);
  one = g.ask("c");
  g.answer(201, token_answer(""));
  CHECK(one->answer.value().status == 401);
  CHECK(g.client.calls() == 3);
}

TEST_CASE("A denial counts more than a permission") {
  guarded g;
  auto const one = g.ask("", "games", identity_source::certificate);
  g.answer(201, access_answer_of(true, R"(,"denied":true)"));
  CHECK(one->answer.value().status == 403);
}

TEST_CASE("Answers are remembered for ten seconds, those of another namespace apart") {
  guarded g;
  g.ask("t");
  g.answer(201, token_answer("ann"));
  g.answer(201, access_answer_of(true));
  CHECK(g.ask("t")->answer.value().status == 200);
  CHECK(g.client.calls() == 2);
  auto const other = g.ask("t", "others");
  REQUIRE(g.client.calls() == 3);
  g.answer(201, access_answer_of(false));
  CHECK(other->answer.value().status == 403);
  CHECK(g.ask("t", "others")->answer.value().status == 403);
  CHECK(g.client.calls() == 3);
  g.time.advance(10s);
  auto const later = g.ask("t");
  CHECK(g.client.calls() == 4);
  g.answer(201, token_answer("ann"));
  g.answer(201, access_answer_of(false));  // the right was taken away
  CHECK(later->answer.value().status == 403);
}

TEST_CASE("Equal questions at the same time are one review") {
  guarded g;
  auto const first = g.ask("t");
  auto const second = g.ask("t");
  CHECK(g.client.calls() == 1);
  g.answer(201, token_answer("ann"));
  CHECK(g.client.calls() == 2);
  g.answer(201, access_answer_of(true));
  CHECK(first->answer.value().status == 200);
  CHECK(second->answer.value().status == 200);
}

TEST_CASE("While the API server does not answer, nobody is let through; afterwards it is asked again") {
  guarded g;
  auto one = g.ask("t");
  g.client.fail(g.client.last(), errc::unavailable);
  g.run();
  CHECK(one->answer.value().status == 503);
  CHECK(holds(one->answer->body, "retryAfterSeconds"));
  for (int const status : {500, 503, 401}) {
    one = g.ask("t");
    g.answer(status, "{}");
    CHECK(one->answer.value().status == 503);
  }
  one = g.ask("t");
  g.answer(429, "{}");
  CHECK(one->answer.value().status == 429);
  for (auto const* nonsense : {"", "{}", R"({"kind":"Status","status":{"authenticated":true,"user":{"username":"x"}}})"}) {
    one = g.ask("t");
    g.answer(201, nonsense);
    CHECK(one->answer.value().status == 503);
  }
  CHECK(g.log.all.size() == 1);  // a row of failures is told once
  one = g.ask("t");
  g.answer(201, token_answer("ann"));
  g.answer(403, R"({"kind":"Status","apiVersion":"v1","message":"may not"})");
  CHECK(one->answer.value().status == 500);
  REQUIRE(g.log.all.size() == 2);
  CHECK(holds(g.log.all[1], "may not"));
  CHECK_FALSE(holds(g.log.all[1], "Bearer"));
  CHECK(g.handler.callers.empty());
}

TEST_CASE("A review has a deadline, and only so many are under way") {
  access_reviewer_options options;
  options.at_once = 2;
  guarded g{options};
  auto const first = g.ask("a");
  auto const second = g.ask("b");
  CHECK(g.client.request(0).deadline == g.time.now() + 5s);
  auto const third = g.ask("c");
  CHECK(third->answer.value().status == 429);
  CHECK(g.client.calls() == 2);
  g.client.answer(0, 201, token_answer("ann"));
  g.client.answer(1, 201, token_answer("bob"));
  g.run();
  CHECK(g.client.calls() == 4);
}

TEST_CASE("A client that leaves during a review takes no server") {
  guarded g;
  auto const one = g.ask("t");
  g.answer(201, token_answer("ann"));
  one->leave.emit(boost::asio::cancellation_type::terminal);
  g.answer(201, access_answer_of(true));
  CHECK(one->answer.value().status == 499);
  CHECK(g.handler.callers.empty());
}

TEST_CASE("Who only looks around needs to be known, not authorized") {
  guarded g;
  auto const one = g.ask("t", "not a namespace");  // which the front end refuses
  g.answer(201, token_answer("ann"));
  CHECK(one->answer.value().status == 200);
  CHECK(g.client.calls() == 1);
}

TEST_CASE("The namespace that a request allocates in is found as the front ends find it") {
  plain_request request;
  request.method = "POST";
  request.path = "/apis/allocation.agones.dev/v1/namespaces/g%61mes/gameserverallocations/";
  CHECK(kubernetes_namespace_of(request) == "games");
  request.method = "GET";
  CHECK_FALSE(kubernetes_namespace_of(request));
  request.method = "POST";
  request.path = "/apis/allocation.agones.dev/v1";
  CHECK_FALSE(kubernetes_namespace_of(request));

  front_end_options options;
  request.path = "/gameserverallocation";
  request.body = R"({"namespace":"a","namespace":"b"} trailing)";
  CHECK(rest_namespace_of(request, options) == "b");
  request.body = "{}";
  CHECK(rest_namespace_of(request, options) == "");
  options.default_namespace = "home";
  CHECK(rest_namespace_of(request, options) == "home");
  request.body = "{";
  CHECK_FALSE(rest_namespace_of(request, options));
}

TEST_CASE("A reviewer's options out of range are refused by name") {
  boost::asio::io_context io;
  manual_timer time{io.get_executor()};
  beast_tests::scripted_client client{io.get_executor()};
  auto const refused = [&](auto change) {
    access_reviewer_options options;
    change(options);
    CHECK_THROWS_AS((access_reviewer{io.get_executor(), client, time, options}), std::invalid_argument);
  };
  refused([](auto& o) { o.remembered = 0; });
  refused([](auto& o) { o.at_once = 0; });
  refused([](auto& o) { o.time = 0s; });
  refused([](auto& o) { o.remember = 0s; });
}
