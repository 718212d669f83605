// Measures allocations: build/benchmarks/allocate --json [--servers N] [--callers C] [--ranking R] [--shape S]
//
// One line of JSON per ranking. An instant store in memory, one thread, from the first server to the last.
//   cpu_per_second    the same per second of processor time: for machines that are not idle
//   per_second        allocations (impossible: answers) through async_allocate
//   naive_per_second  the reference's way, over naive_allocations of them
//   step_ns           median of pick + claim + settle + index update, without store and event loop
//   p50_us, p99_us    of one call, from its start to its handler
//   bytes_per_server  cache and index, view included, per server
//   last_tenth_ratio  rate of the last tenth of the servers over that of the first
//   longest_pause_us  the longest time the event loop was held by one handler, view building included
// With --with-ids, in the same run: with_ids_per_second, of calls that each have an id and a time to wait, and with_ids_ratio, of
// the best of three of each; with_expiry_per_second and with_expiry_ratio, of those whose claims expire besides.
#include "allocate/data_set.hpp"
#include "allocate/naive.hpp"
#include "apart.hpp"

#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/async/asio_timer.hpp>
#include <agones_alloc/async/memory_store.hpp>
#include <agones_alloc/cache/ranked_index.hpp>
#include <agones_alloc/cache/ready_cache.hpp>
#include <agones_alloc/select/apply.hpp>

#include <boost/asio/io_context.hpp>

#include <CLI/CLI.hpp>

#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace bench;
using clock_type = std::chrono::steady_clock;

struct settings {
  std::size_t servers{10'000};
  std::size_t callers{64};
  std::string ranking{"packed"};
  std::string shape{"fleet"};
  std::size_t events_per_second{0};
  double naive_seconds{3};
  bool with_ids{false};
  bool json{false};
};

struct figures {
  double per_second{0};
  double cpu_per_second{0};
  double p50_us{0};
  double p99_us{0};
  double last_tenth_ratio{0};
  double longest_pause_us{0};
  double step_ns{0};
  double bytes_per_server{0};
  std::uint64_t allocated{0};
  naive_figures naive;
};

auto heap_in_use() -> double {
  auto const info = ::mallinfo2();
  return static_cast<double>(info.uordblks) + static_cast<double>(info.hblkhd);
}

auto processor_seconds() -> double {
  ::timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class Part>
auto apart(Part part) -> figures {
  return bench::apart<figures>(part);
}

auto at_quantile(std::vector<double>& values, double q) -> double {
  if (values.empty()) return 0;
  auto const at = values.begin() + static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

void fill(ready_cache& cache, std::size_t servers) {
  for (std::size_t i = 0; i < servers; ++i) cache.store(std::make_shared<game_server const>(make_server(i, servers)));
}

// Pick, claim, settle and the index's part of it; the written value is made outside the measured time.
void measure_step(settings const& want, std::vector<request_ptr> const& requests, figures& out) {
  constexpr std::size_t group = 16;
  auto const heap_before = heap_in_use();
  ready_cache cache;
  seeded_random random{2};
  fill(cache, want.servers);
  ranked_index index{cache};
  pick taken;
  std::uint64_t version = want.servers;
  // Every view is built before the clock starts.
  for (auto const& request : requests) {
    while (true) {
      auto const status = index.pick_and_claim(*request, random, taken);
      if (status == pick_status::picked) cache.put_back(taken.handle);
      if (status != pick_status::building) break;
      index.build_some();
    }
  }
  out.bytes_per_server = (heap_in_use() - heap_before) / static_cast<double>(want.servers);
  auto const impossible = want.shape == "impossible";
  std::vector<double> steps;
  std::vector<pick> picked;
  std::vector<game_server_ptr> written;
  std::size_t next = 0;
  std::size_t dry = 0;
  for (std::size_t done = 0; done < want.servers && dry < requests.size(); done += group) {
    picked.clear();
    written.clear();
    auto const begin = clock_type::now();
    for (std::size_t i = 0; i < group; ++i) {
      auto const& request = *requests[next++ % requests.size()];
      if (index.pick_and_claim(request, random, taken) == pick_status::picked) {
        picked.push_back(std::move(taken));
        dry = 0;
      } else {
        ++dry;
      }
    }
    auto const middle = clock_type::now();
    for (auto const& p : picked) {
      auto desired = std::make_shared<game_server>(*p.server);
      apply_allocation(*desired, requests.front()->allocation().spec, {}, {});
      desired->meta.resource_version = std::to_string(++version);
      written.push_back(std::move(desired));
    }
    auto const again = clock_type::now();
    for (std::size_t i = 0; i < picked.size(); ++i) cache.settle(picked[i].handle, std::move(written[i]));
    index.drain();
    auto const end = clock_type::now();
    auto const spent = std::chrono::duration<double, std::nano>((middle - begin) + (end - again)).count();
    auto const count = impossible ? group : picked.size();
    if (count > 0) steps.push_back(spent / static_cast<double>(count));
    if (impossible) dry = 0;
  }
  out.step_ns = at_quantile(steps, 0.5);
}

enum class calls_have { nothing, ids, ids_and_expiry };

// Callers that each start the next call when the last one has ended.
class closed_loop {
 public:
  closed_loop(settings const& want, std::vector<request_ptr> const& requests, calls_have what = calls_have::nothing)
      : want_{want}, requests_{requests}, calls_have_{what} {
    for (std::size_t i = 0; i < want.servers; ++i) store_.create(make_server(i, want.servers));
    auto all = store_.list();
    for (auto& server : all.servers) cache_.store(std::move(server));
    // The index follows the cache as it does while a program starts; views are built by the first calls.
    context_.run();
    context_.restart();
    // What filling left to the heap is put in order now, not by some allocation.
    ::malloc_trim(0);
    if (what != calls_have::nothing) {  // a matchmaker has them before it asks
      for (std::size_t i = 0; i < 2 * (want.servers + want.callers + requests.size()); ++i) ids_.emplace_back("match-" + std::to_string(i));
    }
    latencies_.reserve(1 << 20);  // growing would make the general allocator tidy up, in the midst of the measurement
    goal_ = want.shape == "impossible" ? 2'000'000 : want.servers;
    marks_.reserve(11);
  }

  [[gnu::noinline]] void run(figures& out) {  // by name in a profile
    auto const processor = processor_seconds();
    begin_ = clock_type::now();
    marks_.push_back(begin_);
    for (std::size_t i = 0; i < want_.callers; ++i) start(i);
    auto last = clock_type::now();
    auto longest = std::chrono::nanoseconds{0};
    auto next_event = last;
    // Not until nothing is left to wait for: claims that expire are waited for much longer.
    while (active_ != 0 && context_.run_one() > 0) {
      auto const now = clock_type::now();
      longest = std::max<std::chrono::nanoseconds>(longest, now - last);
      last = now;
      if (want_.events_per_second > 0 && now >= next_event && !finished()) {
        next_event += std::chrono::nanoseconds{1'000'000'000 / want_.events_per_second};
        event();
      }
    }
    auto const seconds = std::chrono::duration<double>(end_ - begin_).count();
    out.allocated = answered_;
    out.per_second = static_cast<double>(answered_) / seconds;
    out.cpu_per_second = static_cast<double>(answered_) / (processor_seconds() - processor);
    out.p50_us = at_quantile(latencies_, 0.5);
    out.p99_us = at_quantile(latencies_, 0.99);
    out.longest_pause_us = std::chrono::duration<double, std::micro>(longest).count();
    if (marks_.size() == 11) {
      // The rate of the last tenth over that of the first, which includes building the view.
      out.last_tenth_ratio = std::chrono::duration<double>(marks_[1] - marks_[0]).count() /
                             std::chrono::duration<double>(marks_[10] - marks_[9]).count();
    }
  }

 private:
  auto finished() const -> bool { return answered_ >= goal_ || dry_ >= 2 * requests_.size() + want_.callers; }

  void start(std::size_t caller) {
    if (finished()) return;
    ++active_;
    auto const sampled = (++calls_ & 7) == 0 || want_.callers == 1;
    auto const begin = sampled ? clock_type::now() : clock_type::time_point{};
    auto const& request = requests_[next_++ % requests_.size()];
    allocate_options how;
    if (calls_have_ != calls_have::nothing) {
      how.request_id = ids_[calls_ % ids_.size()];
      how.wait_for = std::chrono::milliseconds{1};
    }
    if (calls_have_ == calls_have::ids_and_expiry) how.claim_ttl = std::chrono::hours{1};
    alloc_.async_allocate(request, std::move(how), [this, caller, begin](error_code ec, allocation_result) {
      auto const counts = want_.shape == "impossible" ? ec == errc::exhausted : !ec;
      if (begin != clock_type::time_point{}) {
        latencies_.push_back(std::chrono::duration<double, std::micro>(clock_type::now() - begin).count());
      }
      if (counts) {
        dry_ = 0;
        if (++answered_ * 10 / goal_ >= marks_.size() && marks_.size() < 11) marks_.push_back(clock_type::now());
      } else {
        ++dry_;
      }
      if (finished() && end_ == clock_type::time_point{}) end_ = clock_type::now();
      --active_;
      start(caller);
    });
  }

  // A server changes somewhere: its label moves it between views.
  void event() {
    auto const server = make_server(random_.below(want_.servers), want_.servers);
    auto const changed = store_.modify(key_of(server.meta), [&](game_server& s) {
      s.meta.labels.set("example.com/mode", "mode-" + std::to_string(random_.below(10)));
    });
    if (changed) cache_.store(*changed);
  }

  settings const& want_;
  std::vector<request_ptr> const& requests_;
  calls_have calls_have_;
  boost::asio::io_context context_{1};
  memory_store store_{context_.get_executor(), store_options()};
  asio_timer timer_{context_.get_executor()};
  seeded_random random_{3};
  ready_cache cache_;
  allocator alloc_{context_.get_executor(), cache_, store_, timer_, random_, options()};
  std::vector<shared_string> ids_;
  std::vector<double> latencies_;
  std::vector<clock_type::time_point> marks_;
  clock_type::time_point begin_{};
  clock_type::time_point end_{};
  std::size_t goal_{0};
  std::size_t answered_{0};
  std::size_t calls_{0};
  std::size_t active_{0};
  std::size_t next_{0};
  std::size_t dry_{0};

  static auto options() -> allocator_options { return {}; }
  // Nobody watches, and what it kept for those who would is memory that no allocation touches again.
  static auto store_options() -> memory_store_options { return {.history = 1}; }
};

struct rates_of_ids {
  double without{0};
  double with{0};
  double with_expiry{0};
};

// In turns, so that what else the machine does meets all of them.
auto measure_ids(settings const& want, std::vector<request_ptr> const& requests) -> rates_of_ids {
  rates_of_ids out;
  auto const best = [&](double& rate, calls_have what) {
    rate = std::max(rate, apart([&](figures& f) { closed_loop{want, requests, what}.run(f); }).per_second);
  };
  for (int i = 0; i < 3; ++i) {
    best(out.without, calls_have::nothing);
    best(out.with, calls_have::ids);
    best(out.with_expiry, calls_have::ids_and_expiry);
  }
  return out;
}

void measure(settings const& want, std::string const& name, order_kind order) {
  auto const requests = make_requests(want.shape, order);
  auto const step = apart([&](figures& f) { measure_step(want, requests, f); });
  auto out = apart([&](figures& f) { closed_loop{want, requests}.run(f); });
  out.step_ns = step.step_ns;
  out.bytes_per_server = step.bytes_per_server;
  if (want.naive_seconds > 0) {
    out.naive = apart([&](figures& f) {
                  std::vector<game_server_ptr> servers;
                  for (std::size_t i = 0; i < want.servers; ++i) {
                    servers.push_back(std::make_shared<game_server const>(make_server(i, want.servers)));
                  }
                  auto const patience = std::chrono::duration<double>(want.naive_seconds);
                  f.naive = run_naive(std::move(servers), requests, want.shape != "impossible",
                                      std::chrono::duration_cast<std::chrono::nanoseconds>(patience));
                }).naive;
  }
  auto const naive = out.naive.seconds > 0 ? static_cast<double>(out.naive.allocations) / out.naive.seconds : 0;
  auto const ratio = naive > 0 ? out.per_second / naive : 0;
  auto const* const format =
      want.json ? "{\"servers\":%zu,\"callers\":%zu,\"ranking\":\"%s\",\"shape\":\"%s\",\"events_per_second\":%zu,\"per_second\":%.0f,\"cpu_per_second\":%.0f,"
                  "\"naive_per_second\":%.1f,\"naive_allocations\":%zu,\"ratio\":%.1f,\"step_ns\":%.0f,\"p50_us\":%.2f,"
                  "\"p99_us\":%.2f,\"bytes_per_server\":%.0f,\"last_tenth_ratio\":%.2f,\"longest_pause_us\":%.0f"
                : "%zu servers, %zu callers, %s, %s, %zu events/s: %.0f/s, %.0f per second of processor time (naive %.1f/s over %zu, ratio %.1f), step %.0f ns, "
                  "p50 %.2f us, p99 %.2f us, %.0f bytes a server, last tenth %.2f, longest pause %.0f us";
  std::printf(format, want.servers, want.callers, name.c_str(), want.shape.c_str(), want.events_per_second, out.per_second,
              out.cpu_per_second, naive, out.naive.allocations, ratio, out.step_ns, out.p50_us, out.p99_us, out.bytes_per_server,
              out.last_tenth_ratio, out.longest_pause_us);
  if (want.with_ids) {
    auto const rates = measure_ids(want, requests);
    std::printf(want.json ? ",\"with_ids_per_second\":%.0f,\"with_ids_ratio\":%.2f,\"with_expiry_per_second\":%.0f,\"with_expiry_ratio\":%.2f"
                          : "; with ids %.0f/s, ratio %.2f; with ids and expiry %.0f/s, ratio %.2f",
                rates.with, rates.with / rates.without, rates.with_expiry, rates.with_expiry / rates.without);
  }
  std::fputs(want.json ? "}\n" : "\n", stdout);
  std::fflush(stdout);
}

}  // namespace

auto main(int argc, char** argv) -> int {
  settings want;
  CLI::App app{"Measures allocations, and the same the naive way."};
  app.add_flag("--json", want.json, "One JSON object a line");
  app.add_option("--servers", want.servers, "Ready servers at the start")->check(CLI::Range(1, 10'000'000))->capture_default_str();
  app.add_option("--callers", want.callers, "Calls at any time")->check(CLI::Range(1, 60'000))->capture_default_str();
  app.add_option("--ranking", want.ranking, "How servers are ordered")
      ->check(CLI::IsMember({"packed", "priorities", "random", "newest", "all"}))
      ->capture_default_str();
  app.add_option("--shape", want.shape, "fleet: one that all match; impossible: one that none does; many: 200")
      ->check(CLI::IsMember({"fleet", "impossible", "many"}))
      ->capture_default_str();
  app.add_option("--events", want.events_per_second, "Changes of servers arriving per second meanwhile")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  app.add_flag("--with-ids", want.with_ids, "The same again with ids, claims and a time to wait");
  app.add_option("--naive-seconds", want.naive_seconds, "About how long to measure the naive way; 0: not at all")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  ::mallopt(M_MXFAST, 0);  // see "Memory" in the guide: pauses
  try {
    for (auto const& [name, order] : all_rankings()) {
      if (want.ranking == "all" || want.ranking == name) measure(want, name, order);
    }
  } catch (std::exception const& e) {
    std::fprintf(stderr, "allocate: %s\n", e.what());
    return 1;
  }
  return 0;
}
