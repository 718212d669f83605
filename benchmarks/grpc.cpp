// How fast are allocations over gRPC, next to an empty method of a gRPC server that does nothing else?
//
// Both servers run one after the other in this process with gRPC's own threads, ours with one of its own besides, and get the
// same load: the same client, the same calls under way, over loopback. Rounds alternate; medians count.
#include "in_turn.hpp"
#include "running_loop.hpp"
#include "stocked_allocator.hpp"

#include <agones_alloc/grpc/allocation_front_end.hpp>
#include <agones_alloc/grpc/grpc_listener.hpp>

#include <agones_alloc_proto/allocation.grpc.pb.h>

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <CLI/CLI.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <utility>

namespace {

struct settings {
  bool json{false};
  std::size_t under_way{32};
  std::size_t calls{20'000};  ///< of one round
  std::size_t rounds{3};
};

/// So many calls under way, each followed by another one, until enough have been made.
class loader {
 public:
  loader(settings const& how, int port)
      : stub_{allocation::AllocationService::NewStub(
            grpc::CreateChannel("127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials()))},
        left_{static_cast<long>(how.calls)},
        open_{how.under_way} {
    request_.set_namespace_("default");
    (*request_.add_gameserverselectors()->mutable_matchlabels())["agones.dev/fleet"] = "simple";
  }

  /// Calls a second; exits when one failed.
  auto run(settings const& how) -> double {
    auto const begin = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i != how.under_way; ++i) next();
    over_->get_future().wait();
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begin;
    if (failed_ != 0) {
      std::fprintf(stderr, "grpc: %ld calls failed\n", failed_.load());
      std::exit(1);
    }
    return static_cast<double>(how.calls) / took.count();
  }

 private:
  struct call {
    grpc::ClientContext context;
    allocation::AllocationResponse response;
  };
  void next() {
    if (left_.fetch_sub(1) <= 0) {
      auto const over = over_;  // this may be gone as soon as it is told
      if (open_.fetch_sub(1) == 1) over->set_value();
      return;
    }
    auto one = std::make_shared<call>();
    auto& now = *one;
    stub_->async()->Allocate(&now.context, &request_, &now.response, [this, one = std::move(one)](grpc::Status status) mutable {
      if (!status.ok()) ++failed_;
      // Before the end is told: a call holds its channel, which must not end in gRPC's own thread.
      one.reset();
      next();
    });
  }

  std::unique_ptr<allocation::AllocationService::Stub> stub_;
  allocation::AllocationRequest request_;
  std::atomic<long> left_;
  std::atomic<std::size_t> open_;
  std::atomic<long> failed_{0};
  std::shared_ptr<std::promise<void>> over_{std::make_shared<std::promise<void>>()};
};

class empty_service final : public allocation::AllocationService::CallbackService {
  auto Allocate(grpc::CallbackServerContext* context, allocation::AllocationRequest const*, allocation::AllocationResponse*)
      -> grpc::ServerUnaryReactor* override {
    auto* const reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
};

auto measure_empty(settings const& how) -> double {
  empty_service service;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  auto const server = builder.BuildAndStart();
  auto const out = loader{how, port}.run(how);
  server->Shutdown();
  return out;
}

auto measure_allocations(settings const& how) -> double {
  using namespace agones_alloc;
  bench::stocked_allocator stock{how.calls + 1000};
  allocation_front_end front_end{stock.backend, stock.time, {}};
  grpc_listener listener{stock.io.get_executor(), front_end, stock.time};
  if (listener.listen("127.0.0.1", 0)) {
    std::fputs("grpc: cannot listen on 127.0.0.1\n", stderr);
    std::exit(1);
  }
  bench::running_loop const loop{stock.io};
  return loader{how, listener.port()}.run(how);
}

}  // namespace

auto main(int argc, char** argv) -> int {
  settings how;
  CLI::App app{"Measures allocations over gRPC, next to an empty method."};
  app.add_flag("--json", how.json, "One JSON object");
  app.add_option("--under-way", how.under_way, "Calls at once")->check(CLI::Range(1, 10'000))->capture_default_str();
  app.add_option("--calls", how.calls, "Of one round")->check(CLI::Range(1, 1'000'000))->capture_default_str();
  bench::add_rounds(app, how.rounds);
  CLI11_PARSE(app, argc, argv);
  auto const found = bench::in_turn(how.rounds, [&how] { return measure_empty(how); }, [&how] { return measure_allocations(how); });
  std::printf(how.json ? "{\"per_second\":%.0f,\"empty_per_second\":%.0f,\"ratio\":%.3f,\"under_way\":%zu,\"calls\":%zu,\"rounds\":%zu}\n"
                       : "%.0f allocations/s over gRPC, %.0f empty calls/s, ratio %.3f (%zu under way, %zu calls, %zu rounds)\n",
              found.ours, found.baseline, found.ratio(), how.under_way, how.calls, how.rounds);
  return 0;
}
