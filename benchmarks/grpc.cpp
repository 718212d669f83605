// How fast are allocations over gRPC, next to an empty method of a gRPC server that does nothing else?
//
// Both servers run one after the other in this process with gRPC's own threads, ours with one of its own besides, and get the
// same load: the same client, the same calls under way, over loopback. Rounds alternate; medians count.
#include "median.hpp"

#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/async/asio_timer.hpp>
#include <agones_alloc/async/memory_store.hpp>
#include <agones_alloc/beast/allocator_backend.hpp>
#include <agones_alloc/grpc/allocation_front_end.hpp>
#include <agones_alloc/grpc/grpc_listener.hpp>

#include <agones_alloc_proto/allocation.grpc.pb.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

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

auto make_server(std::size_t number) -> agones_alloc::game_server {
  static agones_alloc::string_map const labels{{"agones.dev/fleet", "simple"}, {"agones.dev/gameserverset", "simple-abcde"}, {"mode", "duel"}};
  agones_alloc::game_server server;
  server.meta.name = "simple-abcde-" + std::to_string(number);
  server.meta.namespace_ = "default";
  server.meta.labels = labels;
  server.status.state = agones_alloc::game_server_state::ready;
  server.status.node_name = "node-" + std::to_string(number / 64);
  server.status.address = "10.0.0.1";
  server.status.addresses = {{"ExternalIP", "10.0.0.1"}};
  server.status.ports = {{"default", static_cast<std::int32_t>(7000 + number % 1000)}};
  return server;
}

auto measure_allocations(settings const& how) -> double {
  using namespace agones_alloc;
  boost::asio::io_context io{1};
  asio_timer time{io.get_executor()};
  memory_store store{io.get_executor(), memory_store_options{.clock = &time}};
  ready_cache cache;
  for (std::size_t i = 0; i != how.calls + 1000; ++i) cache.store(store.create(make_server(i)).value());
  seeded_random random{1};
  allocator allocate{io.get_executor(), cache, store, time, random};
  allocator_backend backend{allocate};
  allocation_front_end front_end{backend, time, {}};
  grpc_listener listener{io.get_executor(), front_end, time};
  if (listener.listen("127.0.0.1", 0)) {
    std::fputs("grpc: cannot listen on 127.0.0.1\n", stderr);
    std::exit(1);
  }
  auto work = boost::asio::make_work_guard(io);
  std::thread loop{[&io] { io.run(); }};
  auto const out = loader{how, listener.port()}.run(how);
  io.stop();
  loop.join();
  return out;
}

using bench::median;

}  // namespace

auto main(int argc, char** argv) -> int {
  settings how;
  CLI::App app{"Measures allocations over gRPC, next to an empty method."};
  app.add_flag("--json", how.json, "One JSON object");
  app.add_option("--under-way", how.under_way, "Calls at once")->check(CLI::Range(1, 10'000))->capture_default_str();
  app.add_option("--calls", how.calls, "Of one round")->check(CLI::Range(1, 1'000'000))->capture_default_str();
  app.add_option("--rounds", how.rounds, "Of each kind")->check(CLI::Range(1, 1000))->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  std::vector<double> empty;
  std::vector<double> ours;
  for (std::size_t round = 0; round != how.rounds; ++round) {
    empty.push_back(measure_empty(how));
    ours.push_back(measure_allocations(how));
  }
  auto const per_second = median(ours);
  auto const empty_per_second = median(empty);
  std::printf(how.json ? "{\"per_second\":%.0f,\"empty_per_second\":%.0f,\"ratio\":%.3f,\"under_way\":%zu,\"calls\":%zu,\"rounds\":%zu}\n"
                       : "%.0f allocations/s over gRPC, %.0f empty calls/s, ratio %.3f (%zu under way, %zu calls, %zu rounds)\n",
              per_second, empty_per_second, per_second / empty_per_second, how.under_way, how.calls, how.rounds);
  return 0;
}
