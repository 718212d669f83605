// The gRPC health probe against little gRPC servers that do what the test says, and against peers that are none.
#include "talker.hpp"

#include <agones_alloc/async/asio_timer.hpp>
#include <agones_alloc/async/socket_probe.hpp>
#include <agones_alloc/grpc/health_probe.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using namespace agones_alloc;
using namespace std::chrono_literals;

namespace {

/// Answers each call with the next of its answers, the last one again and again; nullopt: not before the client has left.
class game final : public grpc::CallbackGenericService {
 public:
  struct one {
    grpc::Status status;
    std::string bytes;
  };
  explicit game(std::vector<std::optional<one>> answers) : answers_{std::move(answers)} {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterCallbackGenericService(this);
    server_ = builder.BuildAndStart();
  }
  ~game() override { server_->Shutdown(::gpr_time_0(GPR_CLOCK_MONOTONIC)); }

  auto port() const -> std::uint16_t { return static_cast<std::uint16_t>(port_); }
  auto asked() -> std::vector<std::string> {
    std::lock_guard const lock{mutex_};
    return asked_;
  }

 private:
  class reactor final : public grpc::ServerGenericBidiReactor {
   public:
    reactor(game& of, std::optional<one> answer) : game_{of}, answer_{std::move(answer)} { StartRead(&request_); }
    void OnReadDone(bool good) override {
      std::vector<grpc::Slice> slices;
      std::string bytes;
      if (good && request_.Dump(&slices).ok()) {
        for (auto const& slice : slices) bytes.append(reinterpret_cast<char const*>(slice.begin()), slice.size());
      }
      game_.note(bytes);
      if (!answer_) return;
      grpc::Slice const text{answer_->bytes};
      response_ = grpc::ByteBuffer{&text, 1};
      if (answer_->status.ok()) {
        StartWriteAndFinish(&response_, {}, answer_->status);
      } else {
        Finish(answer_->status);
      }
    }
    void OnCancel() override {
      if (!answer_) Finish(grpc::Status::CANCELLED);
    }
    void OnDone() override { delete this; }

   private:
    game& game_;
    std::optional<one> answer_;
    grpc::ByteBuffer request_;
    grpc::ByteBuffer response_;
  };

  auto CreateReactor(grpc::GenericCallbackServerContext* context) -> grpc::ServerGenericBidiReactor* override {
    std::lock_guard const lock{mutex_};
    methods.push_back(context->method());
    auto const at = std::min(methods.size(), answers_.size()) - 1;
    return new reactor{*this, answers_[at]};
  }
  void note(std::string const& bytes) {
    std::lock_guard const lock{mutex_};
    asked_.push_back(bytes);
  }

 public:
  std::vector<std::string> methods;

 private:
  std::mutex mutex_;
  std::vector<std::optional<one>> answers_;
  std::vector<std::string> asked_;
  int port_{0};
  std::unique_ptr<grpc::Server> server_;
};

auto says(std::string bytes) -> std::optional<game::one> { return game::one{grpc::Status::OK, std::move(bytes)}; }
auto refuses(grpc::StatusCode code) -> std::optional<game::one> { return game::one{grpc::Status{code, "no"}, {}}; }

auto ask(std::uint16_t port, std::string path = "/", std::chrono::milliseconds time = 20s) -> probe_answer {
  boost::asio::io_context context;
  asio_timer clock{context.get_executor()};
  health_probe probe{context.get_executor(), clock};
  std::optional<probe_answer> got;
  probe_target target{probe_target::protocol::grpc, "127.0.0.1", port, std::move(path), clock.now() + time};
  probe.async_probe(std::move(target), [&](error_code ec, probe_answer said) {
    CHECK_FALSE(ec);
    got = said;
  });
  CHECK_FALSE(got);
  context.run();
  return got.value();
}

auto ask_of(std::optional<game::one> answer, std::string path = "/") -> probe_answer {
  game there{{std::move(answer)}};
  return ask(there.port(), std::move(path));
}

constexpr auto serving = "\x08\x01";

}  // namespace

TEST_CASE("the messages of the health protocol are written and read") {
  CHECK(detail::health_request("").empty());
  CHECK(detail::health_request("arena") == "\x0a\x05" "arena");
  CHECK(detail::health_request(std::string(300, 'x')) == "\x0a\xac\x02" + std::string(300, 'x'));
  CHECK(detail::health_status("") == 0U);
  CHECK(detail::health_status(serving) == 1U);
  CHECK(detail::health_status("\x08\x02") == 2U);
  CHECK(detail::health_status("\x12\x03xyz\x08\x01") == 1U);
  CHECK(detail::health_status("\x08\x81\x01") == 129U);
  CHECK_FALSE(detail::health_status("\x08"));
  CHECK_FALSE(detail::health_status("\x12\x7fxyz"));
  CHECK_FALSE(detail::health_status("\x0d\x01\x02\x03\x04"));
  CHECK_FALSE(detail::health_status(std::string(30, '\xff')));
}

TEST_CASE("SERVING is ready, anything else the service says is not yet") {
  game there{{says(serving)}};
  CHECK(ask(there.port(), "/arena.Match") == probe_answer::ready);
  CHECK(there.methods == std::vector<std::string>{"/grpc.health.v1.Health/Check"});
  CHECK(there.asked() == std::vector<std::string>{"\x0a\x0b" "arena.Match"});
  CHECK(ask_of(says("\x08\x02")) == probe_answer::pending);
  CHECK(ask_of(says("")) == probe_answer::pending);
  CHECK(ask_of(refuses(grpc::StatusCode::UNAVAILABLE)) == probe_answer::pending);
}

TEST_CASE("a server that has no such service is not going to be ready") {
  CHECK(ask_of(refuses(grpc::StatusCode::NOT_FOUND), "/nobody") == probe_answer::failed);
  CHECK(ask_of(refuses(grpc::StatusCode::UNIMPLEMENTED)) == probe_answer::failed);
}

TEST_CASE("an answer that is none, or larger than an answer can be, is not ready") {
  CHECK(ask_of(says("\x08")) == probe_answer::pending);
  CHECK(ask_of(says("HTTP/1.1 200 OK")) == probe_answer::pending);
  CHECK(ask_of(says(std::string{"\x08\x01\x12\x80\x10"} + std::string(2048, 'x'))) == probe_answer::pending);
}

TEST_CASE("a game that flaps is asked anew each time, and one that answers too late has not answered") {
  game there{{says(serving), refuses(grpc::StatusCode::UNAVAILABLE), std::nullopt, says(serving)}};
  CHECK(ask(there.port()) == probe_answer::ready);
  CHECK(ask(there.port()) == probe_answer::pending);
  CHECK(ask(there.port(), "/", 100ms) == probe_answer::pending);
  CHECK(ask(there.port()) == probe_answer::ready);
}

TEST_CASE("peers that do not speak gRPC, or nothing at all, are not ready") {
  boost::asio::io_context context;
  using tcp = boost::asio::ip::tcp;
  tcp::acceptor acceptor{context, {boost::asio::ip::make_address("127.0.0.1"), 0}};
  auto const port = acceptor.local_endpoint().port();
  std::string const redirect = "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 99999\r\n\r\n";
  std::vector<std::unique_ptr<tcp::socket>> held;
  int accepted = 0;
  std::function<void()> accept = [&] {
    acceptor.async_accept([&](boost::system::error_code ec, tcp::socket socket) {
      if (ec) return;
      held.push_back(std::make_unique<tcp::socket>(std::move(socket)));
      if (++accepted == 1) boost::asio::async_write(*held.back(), boost::asio::buffer(redirect), [](boost::system::error_code, std::size_t) {});
      accept();
    });
  };
  accept();
  std::thread peer{[&] { context.run(); }};
  CHECK(ask(port, "/", 500ms) == probe_answer::pending);
  CHECK(ask(port, "/", 100ms) == probe_answer::pending);
  context.stop();
  peer.join();
  acceptor.close();
  held.clear();
  CHECK(ask(port) == probe_answer::pending);  // nobody listens
}

TEST_CASE("a peer that ends each connection at once is not ready, and has few connections a probe") {
  grpc_test::talker far{grpc_test::goaway_at_once()};
  CHECK(ask(far.port()) == probe_answer::pending);
  CHECK(ask(far.port()) == probe_answer::pending);
  CHECK(int{far.connections} <= 2 * grpc_test::few_connections);
}

TEST_CASE("what is under way when the probe goes ends as pending, and other protocols go to whoever can ask by them") {
  game there{{std::nullopt}};
  boost::asio::io_context context;
  asio_timer clock{context.get_executor()};
  socket_probe sockets{context.get_executor()};
  auto probe = std::make_unique<health_probe>(context.get_executor(), clock, &sockets);
  CHECK(probe->can(probe_target::protocol::grpc));
  CHECK(probe->can(probe_target::protocol::tcp));
  CHECK_FALSE(health_probe{context.get_executor(), clock}.can(probe_target::protocol::http));
  CHECK_FALSE(sockets.can(probe_target::protocol::grpc));
  std::vector<probe_answer> got;
  auto const note = [&](error_code, probe_answer said) { got.push_back(said); };
  auto const soon = clock.now() + 20s;
  probe->async_probe({probe_target::protocol::tcp, "127.0.0.1", there.port(), "/", soon}, note);
  context.run();
  CHECK(got == std::vector{probe_answer::ready});
  probe->async_probe({probe_target::protocol::grpc, "127.0.0.1", there.port(), "/", soon}, note);
  probe.reset();
  CHECK(got.size() == 1);
  context.restart();
  context.run();
  CHECK(got == std::vector{probe_answer::ready, probe_answer::pending});
}
