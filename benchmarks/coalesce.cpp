// Measures many sessions on one server: build/benchmarks/coalesce --json [--callers C] [--increments N]
//
// One line of JSON, over an instant store in memory and one thread.
//   burst_writes            writes that C increments take which come at once
//   increments_per_second   of C callers that each begin the next when the last has ended, N in all
//   separate_per_second     the same with a write for each: one caller, so that none can share
//   ratio                   of the two
//   writes_per_increment    in the run with C callers
//   sum                     what the counter says in the end; sum_right: that is what it must say
#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/async/asio_timer.hpp>
#include <agones_alloc/async/memory_store.hpp>
#include <agones_alloc/cache/ready_cache.hpp>

#include <boost/asio/io_context.hpp>

#include <CLI/CLI.hpp>

#include <malloc.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>
#include <variant>

namespace {

using namespace agones_alloc;
using clock_type = std::chrono::steady_clock;

/// Counts the writes on their way to the store.
class counting_store final : public store {
 public:
  explicit counting_store(memory_store& to) : to_{to} {}
  std::uint64_t writes{0};

 private:
  void do_update(update_request request, handler done) override {
    ++writes;
    to_.async_update(std::move(request), std::move(done));
  }
  void do_read(object_key key, handler done) override { to_.async_read(std::move(key), std::move(done)); }
  memory_store& to_;
};

auto increment() -> request_ptr {
  game_server_allocation wanted;
  wanted.meta.namespace_ = "default";
  auto& selector = wanted.spec.selectors.emplace_back();
  selector.game_server_state = "Allocated";
  selector.counters.emplace()["sessions"].min_available = 1;
  wanted.spec.counters.emplace()["sessions"] = {"Increment", 1, {}};
  auto made = allocation_request::make(std::move(wanted));
  if (auto const* errors = std::get_if<field_errors>(&made)) throw std::logic_error{to_string(*errors)};
  return std::get<request_ptr>(std::move(made));
}

/// One Allocated server with room for all, and its allocator.
struct world {
  boost::asio::io_context context{1};
  memory_store memory{context.get_executor()};
  counting_store writes{memory};
  asio_timer timer{context.get_executor()};
  seeded_random random{1};
  ready_cache cache;
  allocator alloc{context.get_executor(), cache, writes, timer, random};
  request_ptr request{increment()};
  std::uint64_t begun{0};
  std::uint64_t done{0};

  world() {
    game_server server;
    server.meta.name = "lobby";
    server.meta.namespace_ = "default";
    server.status.state = game_server_state::allocated;
    server.status.counters["sessions"] = {0, std::numeric_limits<std::int64_t>::max()};
    memory.create(std::move(server));
    for (auto& one : memory.list().servers) cache.store(std::move(one));
  }

  void start(std::uint64_t most) {
    if (begun == most) return;
    ++begun;
    alloc.async_allocate(request, {}, [this, most](error_code ec, allocation_result const&) {
      if (ec) throw std::runtime_error{ec.message()};
      ++done;
      start(most);
    });
  }
  auto run(std::uint64_t callers, std::uint64_t most) -> double {
    auto const begin = clock_type::now();
    for (std::uint64_t i = 0; i < callers; ++i) start(most);
    context.run();
    context.restart();
    return static_cast<double>(done) / std::chrono::duration<double>(clock_type::now() - begin).count();
  }
  auto sum() -> std::int64_t { return memory.list().servers.front()->status.counters.find("sessions")->second.count; }
};

}  // namespace

auto main(int argc, char** argv) -> int {
  std::uint64_t callers = 50;
  std::uint64_t increments = 300'000;
  bool json = false;
  CLI::App app{"Measures many sessions on one server, in shared writes and one by one."};
  app.add_flag("--json", json, "One JSON object");
  app.add_option("--callers", callers, "Calls at any time")->check(CLI::Range(1, 60'000))->capture_default_str();
  app.add_option("--increments", increments, "In all, per run")->check(CLI::Range(1, 100'000'000))->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  ::mallopt(M_MXFAST, 0);  // see "Memory" in the guide: pauses
  try {
    world burst;
    burst.run(callers, callers);
    auto right = burst.sum() == static_cast<std::int64_t>(callers);
    world shared;
    auto const per_second = shared.run(callers, increments);
    right = right && shared.sum() == static_cast<std::int64_t>(increments);
    world separate;
    auto const one_by_one = separate.run(1, increments);
    right = right && separate.sum() == static_cast<std::int64_t>(increments);
    auto const* const format =
        json ? "{\"callers\":%llu,\"burst_writes\":%llu,\"increments_per_second\":%.0f,\"separate_per_second\":%.0f,\"ratio\":%.2f,"
               "\"writes_per_increment\":%.4f,\"sum\":%lld,\"sum_right\":%s}\n"
             : "%llu callers: %llu writes for one burst; %.0f increments/s (%.0f/s one by one, ratio %.2f), %.4f writes each, sum %lld, right: %s\n";
    std::printf(format, static_cast<unsigned long long>(callers), static_cast<unsigned long long>(burst.writes.writes), per_second,
                one_by_one, per_second / one_by_one, static_cast<double>(shared.writes.writes) / static_cast<double>(increments),
                static_cast<long long>(shared.sum()), right ? "true" : "false");
    return right ? 0 : 1;
  } catch (std::exception const& e) {
    std::fprintf(stderr, "coalesce: %s\n", e.what());
    return 1;
  }
}
