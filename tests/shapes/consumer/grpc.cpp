// A user's program that serves gRPC: a door that refuses every call, open for a moment.
#include <agones_alloc/async/asio_timer.hpp>
#include <agones_alloc/grpc/allocation_front_end.hpp>
#include <agones_alloc/grpc/grpc_listener.hpp>

#include <agones_alloc_proto/allocation.pb.h>

#include <boost/asio/io_context.hpp>

#include <cstdio>

namespace {

struct closed final : agones_alloc::http_handler {
  void handle(agones_alloc::http_request const&, reply done) override {
    std::move(done)(agones_alloc::grpc_failure(agones_alloc::grpc_code::unavailable, "closed"));
  }
};

}  // namespace

auto main() -> int {
  boost::asio::io_context io;
  agones_alloc::asio_timer time{io.get_executor()};
  closed handler;
  agones_alloc::grpc_listener listener{io.get_executor(), handler, time};
  if (listener.listen("127.0.0.1", 0) || listener.port() == 0) return 1;
  if (allocation::AllocationRequest{}.ByteSizeLong() != 0) return 1;
  std::puts("a door was open");
  return 0;
}
