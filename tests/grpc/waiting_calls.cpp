// Calls that come while the listener's loop does something else.
#include "grpc_fixture.hpp"

#include <chrono>
#include <cstddef>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace grpc_test;
using namespace std::chrono_literals;

namespace {

/// Calls at once over one connection.
struct crowd {
  explicit crowd(served const& to) : stub{to.channel()} {}

  void come(std::size_t count) {
    grpc::Slice const nothing;
    request = grpc::ByteBuffer{&nothing, 1};
    for (std::size_t i = 0; i != count; ++i) {
      auto& one = *calls.emplace_back(std::make_unique<call>());
      stub.UnaryCall(&one.context, std::string{allocation_front_end::path}, {}, &request, &one.response,
                     [&one](grpc::Status status) { one.end.set_value(std::move(status)); });
    }
  }
  /// How many end with this code; not forever.
  auto ended(grpc::StatusCode code) -> std::size_t {
    std::size_t out = 0;
    for (auto& one : calls) {
      auto end = one->end.get_future();
      if (end.wait_for(30s) != std::future_status::ready) throw std::runtime_error{"a call does not end"};
      if (end.get().error_code() == code) ++out;
    }
    return out;
  }

  struct call {
    grpc::ClientContext context;
    grpc::ByteBuffer response;
    std::promise<grpc::Status> end;
  };
  grpc::GenericStub stub;
  grpc::ByteBuffer request;
  std::vector<std::unique_ptr<call>> calls;
};

struct counting : served {
  counting() : served{nullptr} {
    handler.act = [this](http_request const&, http_handler::reply done) {
      ++begun;
      std::move(done)(named("gs1"));
    };
    start();
  }
  ~counting() { stop(); }
  /// On the loop, which does nothing else meanwhile: until they are all here.
  void await(crowd& from, std::size_t count) {
    from.come(count);
    while (listener->calls() != count) std::this_thread::yield();
  }
  std::size_t begun{0};
};

}  // namespace

TEST_CASE("calls that come while the loop is busy are each begun once, however many") {
  counting s;
  for (std::size_t const count : {1U, 64U, 65U, 500U}) {
    crowd clients{s};
    s.on_loop([&] {
      s.begun = 0;
      s.await(clients, count);
      CHECK(s.begun == 0);
    });
    CHECK(clients.ended(grpc::StatusCode::OK) == count);
    s.on_loop([&] { CHECK(s.begun == count); });
  }
}

TEST_CASE("destroying the listener ends calls that have not begun, and nobody handles them") {
  counting s;
  crowd clients{s};
  s.on_loop([&] {
    s.await(clients, 100);
    s.listener.reset();
  });
  CHECK(clients.ended(grpc::StatusCode::UNAVAILABLE) == 100);
  s.on_loop([&] { CHECK(s.begun == 0); });
}
