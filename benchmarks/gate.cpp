// Measures the readiness gate: build/benchmarks/gate --json [--rounds N] [--pending N] [--hosts N] [--seconds S]
//
// One line of JSON, over an instant store in memory and one thread.
//   told_p50_us, told_p99_us   watched source: from just before the game's write, that it is ready, to the caller's handler
//   writes                     of a gated allocation, the most
//   plain_ns, with_gate_ns     processor time of an allocation without a gate, by an allocator that has no gate object, and by one
//                              that has one, which is off; medians
//   plain_ratio                the first by the second: median of many short pairs, so that a slow moment counts for both or is no
//                              median; _p25 and _p75: how far those are apart
//   checks_per_second          HTTP checks of N pending servers on so many hosts, period 1 s, all on this machine
//   check_cores                processor time for them: of the one thread that allocates and checks. Over loopback a part of what the
//                              kernel does for the peer is in it, as a part of ours is in the peer's
//   game_cores                 of the games, which are a process of their own
//   late_p50_ms, late_p99_ms   how late a check begins, after the raster of a period that its server has
//   timer_p99_ms               the same of a timer of 1 ms on that thread: what machine and thread are late by themselves
#include "gate/checks.hpp"
#include "gate/told.hpp"
#include "median.hpp"

#include <CLI/CLI.hpp>

#include <sys/resource.h>

#include <malloc.h>

#include <cstdio>
#include <exception>

namespace {

struct gate_benchmark {
  std::size_t rounds{20'000};
  std::size_t allocations{200'000};
  std::size_t pending{10'000};
  std::size_t hosts{100};
  double seconds{10};
  bool json{false};
};

/// As many connections at once as the machine allows.
void raise_open_files() {
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) != 0) return;
  now.rlim_cur = now.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &now);
}

auto run(gate_benchmark const& how) -> int {
  raise_open_files();
  auto const asked = bench::measure_checks(how.pending, how.hosts, how.seconds);
  auto const heard = bench::measure_told(how.rounds);
  auto const without_and_with = bench::measure_plain(how.allocations);
  auto const& ratios = without_and_with.ratios;
  auto const* const format =
      how.json ? "{\"told_p50_us\":%.2f,\"told_p99_us\":%.2f,\"writes\":%.0f,\"plain_ns\":%.0f,\"with_gate_ns\":%.0f,\"plain_ratio\":%.3f,"
                 "\"plain_ratio_p25\":%.3f,\"plain_ratio_p75\":%.3f,\"pending\":%zu,\"checks_per_second\":%.0f,"
                 "\"check_cores\":%.3f,\"game_cores\":%.3f,\"late_p50_ms\":%.2f,\"late_p99_ms\":%.2f,\"timer_p99_ms\":%.2f}\n"
               : "told after %.2f us (p99 %.2f us), %.0f writes; no gate: %.0f ns without the object, %.0f ns with it, %.3f (%.3f to %.3f); %zu pending: "
                 "%.0f checks a second, %.3f processors (the games %.3f), late by %.2f ms, p99 %.2f ms (a timer %.2f ms)\n";
  std::printf(format, bench::percentile(heard.micros, 0.5), bench::percentile(heard.micros, 0.99), heard.most_writes,
              bench::median(without_and_with.plain), bench::median(without_and_with.gated), bench::percentile(ratios, 0.5),
              bench::percentile(ratios, 0.25), bench::percentile(ratios, 0.75), how.pending, asked.per_second, asked.cores,
              asked.game_cores, asked.late_p50_ms, asked.late_p99_ms, asked.timer_p99_ms);
  if (heard.least_writes == 2 && heard.most_writes == 2) return 0;
  std::fprintf(stderr, "gate: %.0f to %.0f writes an allocation, not 2\n", heard.least_writes, heard.most_writes);
  return 1;
}

}  // namespace

auto main(int argc, char** argv) -> int {
  gate_benchmark how;
  CLI::App app{"Measures the readiness gate: how soon a caller is told, what many checks cost, and what it costs who has none."};
  app.add_flag("--json", how.json, "One JSON object");
  app.add_option("--rounds", how.rounds, "Gated allocations, one after the other")->check(CLI::Range(1, 10'000'000))->capture_default_str();
  app.add_option("--allocations", how.allocations, "Without a gate, by each")->check(CLI::Range(100, 100'000'000))->capture_default_str();
  app.add_option("--pending", how.pending, "Servers that are checked over HTTP")->check(CLI::Range(1, 60'000))->capture_default_str();
  app.add_option("--hosts", how.hosts, "That these servers are on")->check(CLI::Range(1, 10'000))->capture_default_str();
  app.add_option("--seconds", how.seconds, "To check for")->check(CLI::Range(0.1, 3600.0))->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  ::mallopt(M_MXFAST, 0);  // see "Memory" in the guide: pauses
  try {
    return run(how);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "gate: %s\n", e.what());
    return 1;
  }
}
