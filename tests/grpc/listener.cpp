// gRPC's own client against the listener, over loopback.
#include "grpc_fixture.hpp"

#include <agones_alloc/port/timer.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>

#include <chrono>
#include <stdexcept>

using namespace grpc_test;
using namespace std::chrono_literals;

namespace {

/// Keeps every reply, and tells when one has come and when its client has left.
struct holding {
  explicit holding(served& in) : io{in.io} {
    in.handler.act = [this](http_request const&, http_handler::reply done) {
      auto slot = boost::asio::get_associated_cancellation_slot(done);
      slot.assign([this](boost::asio::cancellation_type) { left.set_value(); });
      replies.push_back(std::make_unique<http_handler::reply>(std::move(done)));
      come.set_value();
    };
  }
  boost::asio::io_context& io;
  std::promise<void> come;
  std::promise<void> left;
  std::vector<std::unique_ptr<http_handler::reply>> replies;
};

class some_stream final : public http_body_stream {
 public:
  explicit some_stream(std::vector<std::string> pieces, std::promise<void>* stopped = nullptr)
      : pieces_{std::move(pieces)}, stopped_{stopped} {}
  void next(std::function<void(piece)> then) override {
    if (at_ < pieces_.size()) return then(std::make_shared<std::string const>(pieces_[at_++]));
    if (stopped_ == nullptr) return then(nullptr);
    then_ = std::move(then);
  }
  void stop() override {
    if (stopped_ != nullptr) std::exchange(stopped_, nullptr)->set_value();
  }

 private:
  std::vector<std::string> pieces_;
  std::size_t at_{0};
  std::promise<void>* stopped_;
  std::function<void(piece)> then_;
};

auto framed(std::vector<std::string> const& tokens) -> std::string {
  std::string out;
  for (auto const& token : tokens) {
    information::InformEvent event;
    event.set_resumetoken(token);
    auto const bytes = event.SerializeAsString();
    for (int shift : {24, 16, 8, 0}) out += static_cast<char>(bytes.size() >> shift & 0xff);
    out += bytes;
  }
  return out;
}

auto streaming(std::shared_ptr<http_body_stream> stream) -> http_response {
  http_response out;
  out.stream = std::move(stream);
  return out;
}

}  // namespace

TEST_CASE("a call comes as a request with its metadata, and its answer goes back with trailers") {
  served s;
  std::optional<std::string> path;
  std::string body, id, peer, timeout;
  bool certificate = true;
  s.handler.act = [&](http_request const& request, http_handler::reply done) {
    path = std::string{request.path};
    body = std::string{request.body};
    id = request.header("Idempotency-Key");
    peer = std::string{request.peer};
    timeout = request.header("Grpc-Timeout");
    certificate = request.client != nullptr;
    auto out = named("gs9");
    out.headers = {{"Agones-Alloc-Claim", "match-1"}, {"Odd", "a\x01\xff"}};
    std::move(done)(std::move(out));
  };
  allocation::AllocationRequest request;
  request.set_namespace_("default");
  auto const got = ask(s.channel(), request, [](grpc::ClientContext& context) { context.AddMetadata("idempotency-key", "match-1"); });
  REQUIRE(got.status.ok());
  CHECK(got.response.gameservername() == "gs9");
  CHECK(got.trailer("agones-alloc-claim") == "match-1");
  CHECK(got.trailer("odd") == "a??");
  CHECK(path == "/allocation.AllocationService/Allocate");
  CHECK(body == request.SerializeAsString());
  CHECK(id == "match-1");
  CHECK(peer == "127.0.0.1");
  CHECK(timeout.empty());
  CHECK_FALSE(certificate);
}

TEST_CASE("a status of the answer becomes the call's, with its details") {
  served s;
  s.handler.act = [](http_request const&, http_handler::reply done) {
    auto out = grpc_failure(grpc_code::resource_exhausted, "nothing\nfree \xc3\xa4");
    out.headers.emplace_back(grpc_details_field, std::string{"\x08\x08\x00\x01", 4});
    std::move(done)(std::move(out));
  };
  auto const got = ask(s.channel());
  CHECK(got.code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
  CHECK(got.status.error_message() == "nothing\nfree \xc3\xa4");
  CHECK(got.status.error_details() == std::string{"\x08\x08\x00\x01", 4});
}

TEST_CASE("answers of who stands before the front end get the nearest code") {
  served s;
  int status = 0;
  s.handler.act = [&](http_request const&, http_handler::reply done) {
    std::move(done)(json_response(status, R"({"kind":"Status","message":"no way","code":1})"));
  };
  for (auto const& [http, code] : {std::pair{401, 16}, {403, 7}, {409, 10}, {429, 8}, {500, 13}, {503, 14}, {499, 1}}) {
    s.on_loop([&, one = http] { status = one; });
    auto const got = ask(s.channel());
    CHECK(got.code() == code);
    CHECK(got.status.error_message() == "no way");
  }
}

TEST_CASE("what is left of the deadline comes with the call, and a client that leaves cancels it") {
  served s;
  holding held{s};
  std::string timeout;
  auto act = std::move(s.handler.act);
  s.handler.act = [&](http_request const& request, http_handler::reply done) {
    timeout = request.header("grpc-timeout");
    act(request, std::move(done));
  };
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::time_point::max() - 24h);
  auto const stub = allocation::AllocationService::NewStub(s.channel());
  allocation::AllocationResponse response;
  auto status = std::async(std::launch::async, [&] { return stub->Allocate(&context, {}, &response); });
  held.come.get_future().wait();
  context.TryCancel();
  held.left.get_future().wait();
  CHECK(status.get().error_code() == grpc::StatusCode::CANCELLED);
  s.on_loop([&] {
    CHECK_FALSE(timeout.empty());
    std::move(*held.replies.front())(named("too late"));
  });
}

TEST_CASE("a deadline that has passed ends the call and cancels it") {
  served s;
  holding held{s};
  auto const got = std::async(std::launch::async, [&] {
    return ask(s.channel(), {}, [](grpc::ClientContext& context) {
      context.set_deadline(gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis(300, GPR_TIMESPAN)));
    });
  }).get();
  CHECK(got.code() == grpc::StatusCode::DEADLINE_EXCEEDED);
  held.left.get_future().wait();
}

TEST_CASE("a message over the limit is ResourceExhausted and reaches nobody") {
  grpc_listener_options options;
  options.message_bytes = 1000;
  served s{options};
  int calls = 0;
  s.handler.act = [&](http_request const&, http_handler::reply done) {
    ++calls;
    std::move(done)(named("gs1"));
  };
  auto const channel = s.channel();
  allocation::AllocationRequest request;
  request.set_namespace_(std::string(2000, 'x'));
  CHECK(ask(channel, request).code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
  request.set_namespace_("default");
  CHECK(ask(channel, request).status.ok());
  s.on_loop([&] { CHECK(calls == 1); });
}

TEST_CASE("a method that is not offered is Unimplemented") {
  grpc_listener_options options;
  options.information = false;
  served s{options};
  std::string answer;
  CHECK(ask_raw(s.channel(), "/information.InformationService/Inform", "", answer).error_code() == grpc::StatusCode::UNIMPLEMENTED);
  CHECK(ask_raw(s.channel(), "/allocation.AllocationService/Nope", "", answer).error_code() == grpc::StatusCode::UNIMPLEMENTED);
  CHECK(ask_raw(s.channel(), "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", "", answer).error_code() ==
        grpc::StatusCode::UNIMPLEMENTED);
}

TEST_CASE("reflection is there when it is wanted, and ends with the listener") {
  grpc_listener_options options;
  options.reflection = true;
  served s{options};
  std::string answer;
  CHECK(ask_raw(s.channel(), "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", "", answer).ok());
  CHECK(ask(s.channel()).status.ok());
}

TEST_CASE("the health service says what it is told") {
  served s;
  CHECK(health(s.channel()) == 1);
  CHECK(health(s.channel(), "allocation.AllocationService") == 1);
  CHECK(health(s.channel(), "information.InformationService") == 1);
  CHECK(health(s.channel(), "nobody") == 0);
  s.on_loop([&] { s.listener->set_serving(false); });
  CHECK(health(s.channel()) == 2);
}

TEST_CASE("calls beyond the bound are Unavailable") {
  grpc_listener_options options;
  options.calls = 1;
  served s{options};
  holding held{s};
  auto first = std::async(std::launch::async, [&] { return ask(s.channel()); });
  held.come.get_future().wait();
  CHECK(ask(s.channel()).code() == grpc::StatusCode::UNAVAILABLE);
  s.on_loop([&] {
    CHECK(s.listener->calls() == 1);
    std::move(*held.replies.front())(named("gs1"));
  });
  CHECK(first.get().status.ok());
}

TEST_CASE("a stream gives its messages in order, then ends with a code to come again") {
  served s;
  s.handler.act = [](http_request const& request, http_handler::reply done) {
    CHECK(request.path == "/information.InformationService/Watch");
    std::move(done)(streaming(std::make_shared<some_stream>(std::vector<std::string>{framed({"a", "b", ""}), framed({"c"})})));
  };
  auto const stub = information::InformationService::NewStub(s.channel());
  grpc::ClientContext context;
  auto const reader = stub->Watch(&context, {});
  std::string tokens;
  information::InformEvent event;
  while (reader->Read(&event)) tokens += event.resumetoken() + ";";
  CHECK(tokens == "a;b;;c;");
  CHECK(reader->Finish().error_code() == grpc::StatusCode::UNAVAILABLE);
}

TEST_CASE("a piece of more messages than may be under way comes whole and in order") {
  served s;
  std::vector<std::string> numbers;
  for (int i = 0; i != 20'000; ++i) numbers.push_back(std::to_string(i) + std::string(100, ' '));
  s.handler.act = [&](http_request const&, http_handler::reply done) {
    std::move(done)(streaming(std::make_shared<some_stream>(std::vector<std::string>{framed(numbers), framed({"last"})})));
  };
  auto const stub = information::InformationService::NewStub(s.channel());
  grpc::ClientContext context;
  auto const reader = stub->Watch(&context, {});
  std::size_t wrong = 0;
  information::InformEvent event;
  for (auto const& one : numbers) {
    if (!reader->Read(&event) || event.resumetoken() != one) ++wrong;
  }
  CHECK(wrong == 0);
  CHECK(reader->Read(&event));
  CHECK(event.resumetoken() == "last");
  CHECK(reader->Finish().error_code() == grpc::StatusCode::UNAVAILABLE);
}

TEST_CASE("a stream that stands still in the middle of a piece ends at once when the server stops") {
  served s;
  std::promise<void> stopped;
  std::vector<std::string> const many(100'000, std::string(100, 'x'));
  s.handler.act = [&](http_request const&, http_handler::reply done) {
    std::move(done)(streaming(std::make_shared<some_stream>(std::vector<std::string>{framed(many)}, &stopped)));
  };
  auto const stub = information::InformationService::NewStub(s.channel());
  grpc::ClientContext context;
  auto const reader = stub->Watch(&context, {});
  information::InformEvent event;
  CHECK(reader->Read(&event));
  std::promise<error_code> drained;
  s.on_loop([&] { s.listener->async_drain(s.time.now() + 1h, [&](error_code ec) { drained.set_value(ec); }); });
  stopped.get_future().wait();
  CHECK_FALSE(drained.get_future().get());
  CHECK(s.listener->calls() == 0);
  std::size_t read = 1;
  while (reader->Read(&event)) ++read;
  CHECK(read < many.size());
  CHECK_FALSE(reader->Finish().ok());
}

TEST_CASE("a stream whose client leaves is stopped") {
  served s;
  std::promise<void> stopped;
  s.handler.act = [&](http_request const&, http_handler::reply done) {
    std::move(done)(streaming(std::make_shared<some_stream>(std::vector<std::string>{framed({"a"})}, &stopped)));
  };
  auto const stub = information::InformationService::NewStub(s.channel());
  grpc::ClientContext context;
  auto const reader = stub->Watch(&context, {});
  information::InformEvent event;
  CHECK(reader->Read(&event));
  context.TryCancel();
  stopped.get_future().wait();
  CHECK(reader->Finish().error_code() == grpc::StatusCode::CANCELLED);
  for (std::size_t calls = 1; calls != 0;) s.on_loop([&] { calls = s.listener->calls(); });  // nothing is kept of it
}

TEST_CASE("draining ends streams, lets calls finish, and takes no more") {
  served s;
  std::promise<void> stopped;
  std::promise<void> streams;
  holding held{s};
  auto hold = std::move(s.handler.act);
  s.handler.act = [&](http_request const& request, http_handler::reply done) {
    if (request.path.ends_with("/Allocate")) return hold(request, std::move(done));
    std::move(done)(streaming(std::make_shared<some_stream>(std::vector<std::string>{framed({"a"})}, &stopped)));
  };
  auto const stub = information::InformationService::NewStub(s.channel());
  grpc::ClientContext context;
  auto const reader = stub->Watch(&context, {});
  information::InformEvent event;
  CHECK(reader->Read(&event));
  auto call = std::async(std::launch::async, [&] { return ask(s.channel()); });
  held.come.get_future().wait();

  std::promise<error_code> drained;
  s.on_loop([&] { s.listener->async_drain(s.time.now() + 1h, [&](error_code ec) { drained.set_value(ec); }); });
  stopped.get_future().wait();
  CHECK_FALSE(reader->Read(&event));
  CHECK(reader->Finish().error_code() == grpc::StatusCode::UNAVAILABLE);
  CHECK(ask(s.channel()).code() == grpc::StatusCode::UNAVAILABLE);
  s.on_loop([&] { std::move(*held.replies.front())(named("gs1")); });
  CHECK(call.get().status.ok());
  CHECK_FALSE(drained.get_future().get());
}

TEST_CASE("what is left at a drain's deadline is cut, with a code to come again") {
  served s;
  holding held{s};
  auto call = std::async(std::launch::async, [&] { return ask(s.channel()); });
  held.come.get_future().wait();
  std::promise<error_code> drained;
  s.on_loop([&] { s.listener->async_drain(s.time.now(), [&](error_code ec) { drained.set_value(ec); }); });
  CHECK(call.get().code() == grpc::StatusCode::UNAVAILABLE);
  held.left.get_future().wait();
  CHECK(drained.get_future().get() == errc::deadline_exceeded);
  s.on_loop([&] { std::move(*held.replies.front())(named("too late")); });
}

TEST_CASE("destroying the listener ends its calls") {
  served s;
  holding held{s};
  auto call = std::async(std::launch::async, [&] { return ask(s.channel()); });
  held.come.get_future().wait();
  s.on_loop([&] { s.listener.reset(); });
  CHECK(call.get().code() == grpc::StatusCode::UNAVAILABLE);
  s.on_loop([&] { held.replies.clear(); });
}

TEST_CASE("a port in use and an address that is none are errors") {
  served s;
  grpc_listener other{s.io.get_executor(), s.handler, s.time};
  CHECK(other.listen("127.0.0.1", s.listener->port()) == boost::system::errc::address_in_use);
  CHECK(other.port() == 0);
  CHECK(other.listen("localhost", 0) == errc::invalid_request);
}

TEST_CASE("options out of range are refused by name") {
  served s;
  grpc_listener_options options;
  options.message_bytes = 0;
  CHECK_THROWS_WITH_AS((grpc_listener{s.io.get_executor(), s.handler, s.time, options}),
                       "grpc_listener_options::message_bytes is out of range", std::invalid_argument);
}
