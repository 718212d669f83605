// What an allocation costs on a Kubernetes cluster, next to a bare PATCH:
//
//   build/benchmarks/kube --kubeconfig FILE --servers N --callers C --json
//
// Makes two namespaces of ready game servers with full pod templates, and removes them at the end: in one, of N,
// servers are allocated, in the other they are patched by a bare loop. Progress goes to standard error. One line a measure:
//   rate      all N servers (--allocations: so many) by C callers, in turns with the same PATCHes from a loop of the same
//             client, whose bytes are made before and whose answers are not read; nobody watches those servers. Both
//             without Events
//   alone     the same by one caller, at most 500
//   events    allocations with Events: the rate, and how long after the last answer the last Event was written
//   replicas  several allocators in this process, each with its own cache, watch and connections
//   start     from nothing to a filled cache, next to a bare list of the same servers in the same pages
//   server    the same of the server program (--server-program), and its resident memory
// Every measure ends with a look at what the API server holds: as many allocated as were handed out, each once.
#include "kube/rate.hpp"
#include "kube/replicas.hpp"
#include "kube/server_program.hpp"
#include "kube/start.hpp"
#include "kube/stock.hpp"

#include <CLI/CLI.hpp>

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace bench;

void note(char const* what) { std::fprintf(stderr, "measuring %s\n", what); }

auto over(double a, double b) -> double { return b > 0 ? a / b : 0; }
auto over(std::uint64_t a, std::size_t b) -> double { return over(static_cast<double>(a), static_cast<double>(b)); }

void print_rate(settings const& want, char const* name, std::size_t callers, rate_figures const& seen) {
  auto const& [ours, raw, patches, conflicts, tally] = seen;
  auto const* const format =
      want.json ? "{\"measure\":\"%s\",\"servers\":%zu,\"callers\":%zu,\"allocations\":%zu,\"per_second\":%.1f,\"raw_patch_per_second\":%.1f,"
                  "\"ratio\":%.3f,\"p50_ms\":%.2f,\"raw_p50_ms\":%.2f,\"p50_ratio\":%.3f,\"conflicts\":%zu,\"patches\":%zu,"
                  "\"patches_per_allocation\":%.4f,\"unallocated_while_ready\":%zu,\"processor_us\":%.0f,\"raw_processor_us\":%.0f}\n"
                : "%s: %zu servers, %zu callers, %zu allocations: %.1f/s, raw %.1f/s, ratio %.3f; p50 %.2f ms, raw %.2f ms, ratio %.3f; "
                  "%zu conflicts, %zu PATCHes, %.4f an allocation, %zu times unallocated while ready; %.0f us of processor each, raw %.0f\n";
  std::printf(format, name, want.servers, callers, tally.allocated(), ours.per_second(), raw.per_second(),
              over(ours.per_second(), raw.per_second()), ours.p50_ms(), raw.p50_ms(), over(ours.p50_ms(), raw.p50_ms()),
              static_cast<std::size_t>(conflicts), static_cast<std::size_t>(patches), over(patches, tally.allocated()), tally.unallocated,
              ours.processor_us(), raw.processor_us());
}

void print_events(settings const& want, events_figures const& seen) {
  auto const* const format =
      want.json ? "{\"measure\":\"events\",\"servers\":%zu,\"callers\":%zu,\"allocations\":%zu,\"per_second\":%.1f,\"p50_ms\":%.2f,"
                  "\"unallocated_while_ready\":%zu,\"events_written\":%zu,\"events_dropped\":%zu,\"events_failed\":%zu,\"last_event_ms\":%.0f}\n"
                : "events: %zu servers, %zu callers, %zu allocations: %.1f/s, p50 %.2f ms, %zu times unallocated while ready; %zu Events "
                  "written, %zu dropped, %zu failed, the last one %.0f ms after the last allocation\n";
  std::printf(format, want.servers, want.callers, seen.seen.allocated(), seen.ours.per_second(), seen.ours.p50_ms(), seen.seen.unallocated,
              static_cast<std::size_t>(seen.events.written), static_cast<std::size_t>(seen.events.dropped),
              static_cast<std::size_t>(seen.events.failed), seen.last_event_ms);
}

void print_replicas(settings const& want, std::size_t number, replicas_figures const& seen) {
  auto const* const format =
      want.json ? "{\"measure\":\"replicas\",\"replicas\":%zu,\"shares\":%s,\"top_n\":%zu,\"servers\":%zu,\"callers\":%zu,\"allocations\":%zu,\"per_second\":%.1f,"
                  "\"p50_ms\":%.2f,\"patches\":%zu,\"patches_per_allocation\":%.4f,\"conflicts\":%zu,\"early_conflicts\":%zu,"
                  "\"contentions\":%zu,\"unavailable\":%zu,\"unallocated_while_ready\":%zu}\n"
                : "%zu replicas (shares: %s, top-n: %zu): %zu servers, %zu callers, %zu allocations: %.1f/s, p50 %.2f ms; %zu PATCHes, %.4f an allocation, "
                  "%zu conflicts, %zu of them before the last tenth, %zu times contention, %zu times unavailable, %zu times unallocated while ready\n";
  std::printf(format, number, want.no_shares ? "false" : "true", want.top_n, want.servers, want.callers, seen.seen.allocated(), seen.ours.per_second(), seen.ours.p50_ms(),
              static_cast<std::size_t>(seen.patches), over(seen.patches, seen.seen.allocated()), static_cast<std::size_t>(seen.conflicts),
              static_cast<std::size_t>(seen.early_conflicts), seen.seen.contended, seen.seen.unavailable, seen.seen.unallocated);
}

void print_start(settings const& want, start_figures const& seen) {
  auto const* const format = want.json ? "{\"measure\":\"start\",\"servers\":%zu,\"bytes\":%zu,\"bare_list_ms\":%.0f,\"synced_ms\":%.0f,\"ratio\":%.3f}\n"
                                       : "start: %zu servers, %zu bytes: a bare list %.0f ms, a filled cache %.0f ms, ratio %.3f\n";
  auto const bare = median(seen.bare_ms);
  auto const synced = median(seen.synced_ms);
  std::printf(format, want.servers, seen.bytes, bare, synced, over(synced, bare));
}

void print_server(settings const& want, server_figures const& seen) {
  auto const* const format =
      want.json ? "{\"measure\":\"server\",\"servers\":%zu,\"bare_list_ms\":%.0f,\"ready_ms\":%.0f,\"ratio\":%.3f,\"ready_mb\":%.1f,"
                  "\"allocations\":%zu,\"per_second\":%.1f,\"busy_mb\":%.1f,\"peak_mb\":%.1f}\n"
                : "server: %zu servers: a bare list %.0f ms, from start to /ready %.0f ms, ratio %.3f; %.1f MB resident; after %zu allocations "
                  "(%.1f/s) %.1f MB, at most %.1f MB\n";
  auto const bare = median(seen.bare_ms);
  auto const ready = median(seen.ready_ms);
  std::printf(format, want.servers, bare, ready, over(ready, bare), seen.ready_mb, seen.allocations.calls, seen.allocations.per_second(),
              seen.busy_mb, seen.peak_mb);
}

class measurements {
 public:
  measurements(environment& env, std::string const& ns) : env_{env}, watched_{env, ns, env.want.servers} {
    if (wants("rate") || wants("alone")) unwatched_.emplace(env, ns + "-raw", at_most(env.want.servers));
  }

  void run() {
    auto const& want = env_.want;
    auto const some = at_most(2'000);
    if (wants("rate")) {
      begin("rate");
      print_rate(want, "rate", want.callers, measure_rate(env_, watched_, *unwatched_, at_most(want.servers), want.callers));
    }
    if (wants("alone")) {
      begin("alone");
      print_rate(want, "alone", 1, measure_rate(env_, watched_, *unwatched_, std::min<std::size_t>(some, 500), 1));
    }
    if (wants("events")) {
      begin("events");
      print_events(want, measure_events(env_, watched_, some, want.callers));
    }
    for (auto const number : wants("replicas") ? want.replicas : std::vector<std::size_t>{}) {
      begin("replicas");
      print_replicas(want, number, measure_replicas(env_, watched_, some, want.callers, number));
    }
    if (wants("start")) {
      begin("start");
      print_start(want, measure_start(env_, watched_, want.rounds));
    }
    if (wants("server")) {
      begin("server");
      print_server(want, measure_server(env_, watched_, want.rounds, some, want.callers));
    }
    std::fflush(stdout);  // removing the namespaces takes its time
  }

 private:
  auto wants(char const* name) const -> bool {
    return std::find(env_.want.measures.begin(), env_.want.measures.end(), name) != env_.want.measures.end();
  }

  /// Allocations of a measure.
  auto at_most(std::size_t by_default) const -> std::size_t {
    return std::min(env_.want.servers, env_.want.allocations != 0 ? env_.want.allocations : by_default);
  }

  void begin(char const* name) {
    std::fflush(stdout);
    watched_.refill();
    if (unwatched_) unwatched_->refill();
    note(name);
  }

  environment& env_;
  stock watched_;
  std::optional<stock> unwatched_;
};

auto new_namespace() -> std::string { return "agones-alloc-bench-" + std::to_string(100'000 + std::random_device{}() % 900'000); }

}  // namespace

auto main(int argc, char** argv) -> int {
  settings want;
  CLI::App app{"Measures allocations on a Kubernetes cluster, and the same PATCHes from a bare loop.\nMakes namespaces of game servers and removes "
               "them. One line a measure:\n"
               "  rate      all servers by all callers, in turns with bare PATCHes of unwatched servers, without Events\n"
               "  alone     the same by one caller, at most 500\n"
               "  events    with Events: the rate, and how late the last Event is\n"
               "  replicas  several allocators with their own caches, watches and connections\n"
               "  start     from nothing to a filled cache, next to a bare list in the same pages\n"
               "  server    the server program: from its start to /ready, and its resident memory"};
  app.add_option("--kubeconfig", want.kubeconfigs, "Whose cluster; may be repeated")->required()->expected(1)->take_all();
  app.add_option("--context", want.context, "Which of its contexts");
  app.add_flag("--json", want.json, "One JSON object a line");
  app.add_option("--servers", want.servers, "Ready servers at the start of each measure")->check(CLI::Range(1, 99'999))->capture_default_str();
  app.add_option("--callers", want.callers, "Calls at any time")->check(CLI::Range(1, 1024))->capture_default_str();
  app.add_option("--measure", want.measures, "Which ones, with commas between; all but server")
      ->delimiter(',')
      ->check(CLI::IsMember({"rate", "alone", "events", "replicas", "start", "server"}));
  app.add_option("--allocations", want.allocations, "At most so many a measure. Default: all servers in rate, 2000 in the others")
      ->check(CLI::Range(1, 99'999));
  app.add_option("--replicas", want.replicas, "Allocators, with commas between; a line each. Default: 1,3")
      ->delimiter(',')
      ->check(CLI::Range(1, 64));
  app.add_flag("--no-shares", want.no_shares, "Replicas prefer no servers of their own (agones-alloc-server --replica-share)");
  app.add_option("--top-n", want.top_n, "Replicas choose among the best N")->check(CLI::Range(1, 1024))->capture_default_str();
  app.add_option("--rounds", want.rounds, "Starts; medians count")->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--server-program", want.server_program, "Measures this agones-alloc-server, too")->check(CLI::ExistingFile);
  CLI11_PARSE(app, argc, argv);
  if (!want.server_program.empty()) want.measures.emplace_back("server");

  auto const config = agones_alloc::yaml::load_kubeconfig({want.kubeconfigs.begin(), want.kubeconfigs.end()}, want.context);
  for (auto const& problem : config.errors) std::fprintf(stderr, "kube: %s\n", to_string(problem).c_str());
  if (!config.ok()) return 2;
  auto const give_up = [](int) { interrupted = 1; };
  std::signal(SIGINT, give_up);
  std::signal(SIGTERM, give_up);
  std::signal(SIGPIPE, SIG_IGN);
  environment env{want, config.target};
  try {
    measurements all{env, new_namespace()};
    try {
      all.run();
    } catch (std::exception const& e) {
      std::fflush(stdout);
      std::fprintf(stderr, "giving up: %s\n", e.what());  // at once: removing the namespaces takes its time
      throw;
    }
  } catch (std::exception const& e) {
    std::fprintf(stderr, "kube: %s\n", e.what());
    std::_Exit(1);  // what was given up in the midst is not tidied up
  }
  return 0;
}
