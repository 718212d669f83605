// What decides over a gRPC call to another cluster: its endpoint, its end, and who is to call.
#include <agones_alloc/beast/remote/endpoint.hpp>
#include <agones_alloc/beast/remote/remote_by_protocol.hpp>
#include <agones_alloc/grpc/grpc_answer.hpp>

#include <agones_alloc_proto/allocation.pb.h>
#include <agones_alloc_proto/failure.pb.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace agones_alloc;
using namespace std::chrono_literals;

namespace {

auto shown(std::string_view text, bool plain = false) -> std::string {
  auto const parsed = parse_grpc_endpoint(text, plain);
  if (auto const* problem = std::get_if<std::string>(&parsed)) return *problem;
  auto const& e = std::get<client_endpoint>(parsed);
  return std::string{e.tls ? "tls " : "plain "} + e.host + " " + std::to_string(e.port);
}

auto judged(grpc_answer const& answer, std::vector<int> const& codes = {}) -> remote_result {
  remote_call call;
  call.endpoint = "grpc://e:443";
  call.namespace_ = "games";
  return judge_grpc_answer(answer, call, codes);
}

auto ended(int code, std::string words = "some words") -> grpc_answer {
  grpc_answer out;
  out.code = code;
  out.message = std::move(words);
  return out;
}

template <class Detail>
auto with_detail(char const* type, Detail const& what) -> std::string {
  agones_alloc::failure::Status status;
  auto& any = *status.add_details();
  std::string url{"type.googleapis.com/"};
  any.set_type_url(url.append(type));
  any.set_value(what.SerializeAsString());
  return status.SerializeAsString();
}

/// One that says its name for every call.
struct named_remote final : connected_remote {
  named_remote(boost::asio::any_io_executor e, std::string n) : executor{std::move(e)}, name{std::move(n)} {}
  auto can_probe() const noexcept -> bool override { return true; }
  void close() override { closed = true; }
  void do_allocate(remote_call, handler done) override {
    remote_result out;
    out.message = name;
    boost::asio::post(executor, [done = std::move(done), out = std::move(out)]() mutable { std::move(done)(std::move(out)); });
  }
  void do_probe(remote_call, probe_handler done) override {
    boost::asio::post(executor, [done = std::move(done), n = name]() mutable { std::move(done)(std::move(n)); });
  }
  void tell_endpoints(endpoints_handler done) override {
    std::vector<remote_endpoint_state> all(1);
    all[0].endpoint = name + "-endpoint";
    boost::asio::post(executor, [done = std::move(done), all = std::move(all)]() mutable { std::move(done)(std::move(all)); });
  }
  boost::asio::any_io_executor executor;
  std::string name;
  bool closed{false};
};

struct two_protocols {
  explicit two_protocols(bool with_grpc, remote_protocol otherwise = remote_protocol::rest)
      : both{io.get_executor(), rest, with_grpc ? &grpc : nullptr, otherwise, "built without gRPC"} {}
  auto answer(char const* endpoint) -> std::string {
    remote_call call;
    call.endpoint = endpoint;
    std::string out;
    both.async_allocate(call, [&out](remote_result result) {
      CHECK(result.result == outcome::unavailable);
      out = result.message.str();
    });
    CHECK(out.empty());
    io.restart();
    io.run();
    return out;
  }
  auto probe(char const* endpoint) -> std::string {
    remote_call call;
    call.endpoint = endpoint;
    std::string out;
    both.async_probe(call, [&out](std::string words) { out = std::move(words); });
    io.restart();
    io.run();
    return out;
  }
  auto endpoints() -> std::string {
    std::string out;
    both.async_endpoints([&out](std::vector<remote_endpoint_state> all) {
      for (auto const& one : all) out += one.endpoint + ";";
    });
    io.restart();
    io.run();
    return out;
  }

  boost::asio::io_context io;
  named_remote rest{io.get_executor(), "rest"};
  named_remote grpc{io.get_executor(), "grpc"};
  remote_by_protocol both;
};

}  // namespace

TEST_CASE("gRPC endpoints: with and without their scheme and port") {
  CHECK(shown("grpc://east.example:8443") == "tls east.example 8443");
  CHECK(shown("grpc://east.example") == "tls east.example 443");
  CHECK(shown("grpc://[::1]:8443/") == "tls ::1 8443");
  CHECK(shown("10.0.0.1") == "tls 10.0.0.1 443");
  CHECK(shown("grpc+http://east:9090", true) == "plain east 9090");
  CHECK(shown("grpc+http://east") == "endpoint \"grpc+http://east\": gRPC without TLS is not allowed");
  CHECK(shown("grpc://east:0") == "endpoint \"grpc://east:0\": a port is a number from 1 to 65535");
  CHECK(shown("grpc://a b") == "endpoint \"grpc://a b\": is no host or address with or without a port");
}

TEST_CASE("an endpoint's scheme says how it is spoken to, and others as it was chosen") {
  for (auto const otherwise : {remote_protocol::rest, remote_protocol::grpc}) {
    CHECK(protocol_of("grpc://east", otherwise) == remote_protocol::grpc);
    CHECK(protocol_of("grpc+http://east", otherwise) == remote_protocol::grpc);
    CHECK(protocol_of("https://east", otherwise) == remote_protocol::rest);
    CHECK(protocol_of("http://east", otherwise) == remote_protocol::rest);
    CHECK(protocol_of("east:443", otherwise) == otherwise);
  }
  auto const wrong = parse_endpoint("grpc://east");
  CHECK(std::get<std::string>(wrong) == "endpoint \"grpc://east\": is for gRPC, where HTTPS is spoken");
}

TEST_CASE("each call, probe and look goes to who speaks the endpoint's protocol") {
  two_protocols t{true};
  CHECK(t.answer("grpc://east") == "grpc");
  CHECK(t.answer("https://east") == "rest");
  CHECK(t.answer("east") == "rest");
  CHECK(t.probe("grpc://east") == "grpc");
  CHECK(t.probe("east") == "rest");
  CHECK(t.endpoints() == "grpc-endpoint;rest-endpoint;");
  t.both.close();
  CHECK(t.rest.closed);
  CHECK(t.grpc.closed);
  two_protocols other{true, remote_protocol::grpc};
  CHECK(other.answer("east") == "grpc");
  CHECK(other.answer("https://east") == "rest");
}

TEST_CASE("without gRPC an endpoint that wants it is refused by its name, and others are called") {
  two_protocols t{false};
  CHECK(t.answer("grpc://east") == "endpoint \"grpc://east\": built without gRPC");
  CHECK(t.probe("grpc://east") == "endpoint \"grpc://east\": built without gRPC");
  CHECK(t.answer("east") == "rest");
  CHECK(t.endpoints() == "rest-endpoint;");
  t.both.close();
  CHECK(t.rest.closed);
}

TEST_CASE("OK with a server is an allocation, all of its fields with it (8.8)") {
  allocation::AllocationResponse message;
  message.set_gameservername("gs1");
  message.set_address("1.2.3.4");
  message.set_nodename("n1");
  message.set_source("local");
  auto& port = *message.add_ports();
  port.set_name("default");
  port.set_port(7777);
  auto& address = *message.add_addresses();
  address.set_type("ExternalIP");
  address.set_address("1.2.3.4");
  (*message.mutable_metadata()->mutable_labels())["a"] = "b";
  (*message.mutable_metadata()->mutable_annotations())["c"] = "d";
  (*message.mutable_counters())["rooms"].mutable_count()->set_value(9'007'199'254'740'993);
  (*message.mutable_counters())["rooms"].mutable_capacity()->set_value(5);
  (*message.mutable_lists())["players"].add_values("x");
  grpc_answer answer;
  answer.body = message.SerializeAsString();
  auto const out = judged(answer);
  REQUIRE(out.result == outcome::allocated);
  CHECK(out.code == 200);
  auto const& server = *out.server;
  CHECK(server.meta.name == "gs1");
  CHECK(server.meta.namespace_ == "games");
  CHECK(server.meta.labels.value_or_empty("a") == "b");
  CHECK(server.meta.annotations.value_or_empty("c") == "d");
  CHECK(server.status.state == game_server_state::allocated);
  CHECK(server.status.ports.begin()->port == 7777);
  CHECK(server.status.address == "1.2.3.4");
  CHECK(server.status.addresses.begin()->type == "ExternalIP");
  CHECK(server.status.node_name == "n1");
  auto const counters = server.status.counters;
  CHECK(counters.begin()->second.count == 9'007'199'254'740'993);
  CHECK(server.status.lists.begin()->second.values->front() == "x");
}

TEST_CASE("OK without a server is nothing available, and OK with anything else of unknown fate") {
  CHECK(judged({}).result == outcome::exhausted);
  grpc_answer answer;
  answer.body = "<html>hello</html>";
  CHECK(judged(answer).result == outcome::unknown);
  allocation::AllocationResponse nameless;
  nameless.set_address("1.2.3.4");
  answer.body = nameless.SerializeAsString();
  CHECK(judged(answer).result == outcome::unknown);
}

TEST_CASE("each code has its meaning (8.9)") {
  std::vector<std::pair<int, outcome>> const table{
      {1, outcome::unknown},     {2, outcome::unknown},      {3, outcome::invalid},      {4, outcome::unknown},
      {5, outcome::unavailable}, {6, outcome::unknown},      {7, outcome::refused},      {8, outcome::unknown},
      {9, outcome::unavailable}, {10, outcome::contention},  {11, outcome::invalid},     {12, outcome::unavailable},
      {13, outcome::unknown},    {14, outcome::unknown},     {15, outcome::unknown},     {16, outcome::refused},
      {17, outcome::unknown},    {422, outcome::invalid},    {-1, outcome::unknown},     {1'000'000, outcome::unknown}};
  for (auto const& row : table) {
    auto const code = row.first;
    CAPTURE(code);
    auto const out = judged(ended(code));
    CHECK(out.result == row.second);
    CHECK(out.message == "some words");
    CHECK(out.whole_cluster == (code == 9));
    CHECK(out.errors.size() == (row.second == outcome::invalid ? 1 : 0));
  }
  CHECK(judged(ended(13, "")).message == "Internal");
  CHECK(judged(ended(13, std::string(5000, 'x'))).message.view().size() == 512);
}

TEST_CASE("Agones' words mean nothing available with whatever code, and so do further statuses (Q25)") {
  for (int const code : {1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 14, 16}) {
    CHECK(judged(ended(code, "there is no available GameServer to allocate")).result == outcome::exhausted);
  }
  CHECK(judged(ended(8), {429}).result == outcome::exhausted);
  CHECK(judged(ended(5), {404}).result == outcome::exhausted);
  CHECK(judged(ended(5), {429}).result == outcome::unavailable);
  // A lost call has these codes too.
  CHECK(judged(ended(14), {503}).result == outcome::unknown);
  CHECK(judged(ended(4), {504}).result == outcome::unknown);
}

TEST_CASE("Unavailable is not executed only where somebody says so") {
  CHECK(judged(ended(14, "Socket closed")).result == outcome::unknown);
  CHECK(judged(ended(14, "Received RST_STREAM with error code 2")).result == outcome::unknown);
  CHECK(judged(ended(14, "Received RST_STREAM with error code 7")).result == outcome::unavailable);
  CHECK(judged(ended(14, "failed to connect to all addresses; last error: refused")).result == outcome::unavailable);
  auto answer = ended(14);
  answer.retry_after = "3";
  CHECK(judged(answer).result == outcome::unavailable);
  CHECK(judged(answer).retry_after == 3s);
  answer.retry_after = "soon";
  CHECK(judged(answer).result == outcome::unknown);
  answer.retry_after = "4000000000";
  CHECK(judged(answer).retry_after == 1h);
  answer.retry_after.clear();
  agones_alloc::failure::RetryInfo retry;
  retry.mutable_retry_delay()->set_seconds(-7);
  retry.mutable_retry_delay()->set_nanos(500);
  answer.details = with_detail("google.rpc.RetryInfo", retry);
  CHECK(judged(answer).result == outcome::unavailable);
  CHECK(judged(answer).retry_after == 500ns);
  agones_alloc::failure::AllocationFailure failure;
  failure.set_outcome("unavailable");
  answer.details = with_detail("agones_alloc.failure.AllocationFailure", failure);
  CHECK(judged(answer).result == outcome::unavailable);
  failure.set_outcome("unknown");
  answer.details = with_detail("agones_alloc.failure.AllocationFailure", failure);
  CHECK(judged(answer).result == outcome::unknown);
  failure.set_outcome("refused");
  answer.details = with_detail("agones_alloc.failure.AllocationFailure", failure);
  CHECK(judged(answer).result == outcome::unknown);
  answer.code = 2;
  CHECK(judged(answer).result == outcome::refused);
  answer.code = 14;
  answer.details = "no details";
  CHECK(judged(answer).result == outcome::unknown);
}

TEST_CASE("an answer over the bound, or none, may have named a server, whatever its code says") {
  CHECK(judged(ended(8, "Received message larger than max (5 vs. 4)"), {429}).result == outcome::unknown);
  CHECK(judged(ended(12, "No message returned for unary request")).result == outcome::unknown);
  grpc_answer none;
  none.answered = false;
  CHECK(judged(none).result == outcome::unknown);
}
