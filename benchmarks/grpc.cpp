// What does gRPC cost?
//
//  allocate  allocations, next to an empty method of a gRPC server that is set up alike and does nothing else. Both servers run one after
//            the other in this process with gRPC's own threads, ours with one of its own besides, and get the same load: the same
//            client, the same calls under way, over loopback. Rounds alternate; medians count. Processor time is of the process, client
//            included
//  stream    consumers of Watch that are told of random changes; one looks at when, some read nothing
//  idle      memory of agones-alloc-server with a fleet of ten and nobody who asks
#include "fleets/crowd.hpp"
#include "grpc/idle_server.hpp"
#include "grpc/watcher.hpp"
#include "in_turn.hpp"
#include "median.hpp"
#include "running_loop.hpp"
#include "stocked_allocator.hpp"

#include <agones_alloc/grpc/allocation_front_end.hpp>
#include <agones_alloc/grpc/grpc_listener.hpp>
#include <agones_alloc/grpc/information_front_end.hpp>

#include <agones_alloc_proto/allocation.grpc.pb.h>

#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <CLI/CLI.hpp>

#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

struct settings {
  bool json{false};
  std::size_t under_way{32};
  std::size_t calls{20'000};  ///< of one round
  std::size_t rounds{3};
  std::string server;          ///< agones-alloc-server; "": the one that was built beside this program
  bool read_answers{false};
  bool bare_empty{false};
  bool no_streams{false};
  bench::fleet_settings crowd;
};

/// Processor time of this process, in seconds.
auto processor_seconds() -> double {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  auto const seconds = [](timeval const& time) { return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6; };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

struct speed {
  double per_second;
  double processor_us;  ///< of a call
};

/// So many calls under way, each followed by another one, until enough have been made. The request is written once, and answers are
/// not read unless it is wanted: the servers are to be measured.
class loader {
 public:
  loader(settings const& how, int port)
      : read_{how.read_answers},
        stub_{grpc::CreateChannel("127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials())},
        left_{static_cast<long>(how.calls)},
        open_{how.under_way} {
    allocation::AllocationRequest request;
    request.set_namespace_("default");
    (*request.add_gameserverselectors()->mutable_matchlabels())["agones.dev/fleet"] = "simple";
    grpc::Slice const bytes{request.SerializeAsString()};
    request_ = grpc::ByteBuffer{&bytes, 1};
  }

  /// Exits when a call failed.
  auto run(settings const& how) -> speed {
    auto const used = processor_seconds();
    auto const begin = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i != how.under_way; ++i) next();
    over_->get_future().wait();
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begin;
    if (failed_ != 0) {
      std::fprintf(stderr, "grpc: %ld calls failed\n", failed_.load());
      std::exit(1);
    }
    auto const calls = static_cast<double>(how.calls);
    return {calls / took.count(), (processor_seconds() - used) * 1e6 / calls};
  }

 private:
  struct call {
    grpc::ClientContext context;
    grpc::ByteBuffer response;
  };
  void next() {
    if (left_.fetch_sub(1) <= 0) {
      auto const over = over_;  // this may be gone as soon as it is told
      if (open_.fetch_sub(1) == 1) over->set_value();
      return;
    }
    auto one = std::make_shared<call>();
    auto& now = *one;
    stub_.UnaryCall(&now.context, "/allocation.AllocationService/Allocate", {}, &request_, &now.response,
                    [this, one = std::move(one)](grpc::Status const& status) mutable {
                      if (!status.ok() || !understood(one->response)) ++failed_;
                      // Before the end is told: a call holds its channel, which must not end in gRPC's own thread.
                      one.reset();
                      next();
                    });
  }

  auto understood(grpc::ByteBuffer& response) const -> bool {
    if (!read_) return true;
    allocation::AllocationResponse message;
    return grpc::SerializationTraits<allocation::AllocationResponse>::Deserialize(&response, &message).ok();
  }

  bool read_;
  grpc::GenericStub stub_;
  grpc::ByteBuffer request_;
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

/// As grpc_listener does: gRPC counts calls for the sake of idle connections, and the memory that connections take.
void set_up_alike(grpc::ServerBuilder& builder) {
  agones_alloc::grpc_listener_options const ours;
  auto const ms = [](std::chrono::nanoseconds time) {
    return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
  };
  builder.SetMaxReceiveMessageSize(static_cast<int>(ours.message_bytes));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, static_cast<int>(ours.calls_of_connection));
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, ms(ours.least_ping_interval));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, ms(ours.idle_time));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, ms(ours.ping_time));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, ms(ours.ping_wait));
  grpc::ResourceQuota quota{"empty"};
  quota.Resize(ours.memory_bytes);
  builder.SetResourceQuota(quota);
}

auto measure_empty(settings const& how) -> speed {
  empty_service service;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  if (!how.bare_empty) set_up_alike(builder);
  auto const server = builder.BuildAndStart();
  auto const out = loader{how, port}.run(how);
  server->Shutdown();
  return out;
}

auto measure_allocations(settings const& how) -> speed {
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

auto measure_streams(bench::fleet_settings const& how) -> bench::stream_figures {
  using namespace agones_alloc;
  bench::allow_descriptors();
  boost::asio::io_context io{1};
  asio_timer time{io.get_executor()};
  fleet_directory directory{io.get_executor(), time};
  bench::fill(directory, how.fleets);
  fleets_options bounds;
  bounds.streams = 100'000;
  information_front_end front_end{directory, time, {}, bounds};
  grpc_listener listener{io.get_executor(), front_end, time};
  if (listener.listen("127.0.0.1", 0)) {
    std::fputs("grpc: cannot listen on 127.0.0.1\n", stderr);
    std::exit(1);
  }
  return bench::measure_streams<bench::watcher>(how, io, directory, listener.port());
}

/// Null: there is no such program.
auto measure_idle(settings const& how) -> std::optional<bench::process_memory> {
  auto const beside = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "examples/agones-alloc-server";
  auto const program = how.server.empty() ? beside.string() : how.server;
  if (how.server.empty() && !std::filesystem::exists(beside)) return std::nullopt;
  return bench::idle_server{program}.memory();
}

void print(settings const& how, std::vector<speed> const& empty, std::vector<speed> const& ours) {
  auto const middle = [](std::vector<speed> const& from, double speed::* what) {
    std::vector<double> values;
    for (auto const& one : from) values.push_back(one.*what);
    return bench::median(std::move(values));
  };
  auto const rate = middle(ours, &speed::per_second);
  auto const empty_rate = middle(empty, &speed::per_second);
  std::printf(how.json ? "{\"per_second\":%.0f,\"empty_per_second\":%.0f,\"ratio\":%.3f,\"processor_us\":%.1f,\"empty_processor_us\":%.1f,"
                         "\"under_way\":%zu,\"calls\":%zu,\"rounds\":%zu"
                       : "%.0f allocations/s over gRPC, %.0f empty calls/s, ratio %.3f; processor time %.1f us, empty %.1f us "
                         "(%zu under way, %zu calls, %zu rounds)\n",
              rate, empty_rate, rate / empty_rate, middle(ours, &speed::processor_us), middle(empty, &speed::processor_us), how.under_way,
              how.calls, how.rounds);
}

void print(settings const& how, bench::stream_figures const& streams) {
  std::printf(how.json ? ",\"stream_p50_ms\":%.1f,\"stream_p99_ms\":%.1f,\"stream_bytes_per_consumer\":%.0f,"
                         "\"stream_megabytes_per_second\":%.1f,\"stream_samples\":%zu,\"streams_ended\":%zu"
                       : "streams: p50 %.1f ms, p99 %.1f ms from change to consumer, %.0f bytes a consumer, %.1f MB/s, %zu samples, %zu ended\n",
              streams.p50_ms, streams.p99_ms, streams.bytes_per_consumer, streams.megabytes_per_second, streams.samples, streams.ended);
}

void print(settings const& how, bench::process_memory const& idle) {
  std::printf(how.json ? ",\"idle_resident_bytes\":%.0f,\"idle_own_bytes\":%.0f,\"idle_proportional_bytes\":%.0f"
                       : "idle server: %.0f bytes resident, of which %.0f its own; %.0f with its part of what is shared\n",
              idle.resident, idle.own, idle.proportional);
}

}  // namespace

auto main(int argc, char** argv) -> int {
  settings how;
  CLI::App app{"Measures gRPC: allocations next to an empty method, streams, and the memory of an idle server."};
  app.add_flag("--json", how.json, "One JSON object");
  app.add_option("--under-way", how.under_way, "Calls at once")->check(CLI::Range(1, 10'000))->capture_default_str();
  app.add_option("--calls", how.calls, "Of one round")->check(CLI::Range(1, 1'000'000))->capture_default_str();
  app.add_flag("--read-answers", how.read_answers, "The client makes messages of the answers; else only their status counts");
  app.add_flag("--bare-empty", how.bare_empty, "The empty server as gRPC makes it, and not set up like ours");
  app.add_flag("--no-streams", how.no_streams, "Without them");
  app.add_flag("!--one-by-one", bench::watcher::together(), "Streams whose events are a message each");
  app.add_option("--consumers", how.crowd.consumers, "Streams")->check(CLI::Range(1, 20'000))->capture_default_str();
  app.add_option("--slow", how.crowd.slow, "Further ones, that read nothing")->check(CLI::Range(0, 20'000))->capture_default_str();
  app.add_option("--fleets", how.crowd.fleets, "That are told of")->check(CLI::Range(1, 100'000))->capture_default_str();
  app.add_option("--rate", how.crowd.rate, "Changes a second")->check(CLI::Range(1, 1'000'000))->capture_default_str();
  app.add_option("--seconds", how.crowd.seconds, "Of changes")->check(CLI::Range(1, 3600))->capture_default_str();
  app.add_option("--server", how.server, "agones-alloc-server, to be looked at when idle; else the one built beside this, if it is there");
  bench::add_rounds(app, how.rounds);
  CLI11_PARSE(app, argc, argv);
  std::vector<speed> empty;
  std::vector<speed> ours;
  for (std::size_t round = 0; round != how.rounds; ++round) {
    empty.push_back(measure_empty(how));
    ours.push_back(measure_allocations(how));
  }
  try {
    print(how, empty, ours);
    if (!how.no_streams) print(how, measure_streams(how.crowd));
    if (auto const idle = measure_idle(how)) print(how, *idle);
    if (how.json) std::puts("}");
  } catch (std::exception const& e) {
    std::fprintf(stderr, "grpc: %s\n", e.what());
    return 1;
  }
  return 0;
}
