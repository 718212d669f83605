// Searches for seeds that break a promise. See --help.
#include "command.hpp"
#include "scenario.hpp"

#include <cinttypes>
#include <cstdio>
#include <string>

using namespace simulation;

namespace {

void print_failure(command const& asked, scenario const& what, verdict const& v) {
  if (!asked.verbose) {
    std::printf("the last of its history:\n");
    for (auto const& line : v.last_lines) std::puts(line.c_str());
  }
  std::printf("seed %" PRIu64 " breaks a promise: %s\n", what.seed, v.failure->c_str());
  std::printf("again, in full: simulation --seed %" PRIu64 " --steps %" PRIu64 " --replicas %d%s%s%s%s --verbose\n", what.seed, what.steps,
              what.replicas, asked.broken_name.empty() ? "" : " --mutation ", std::string{asked.broken_name}.c_str(), what.late_writes ? " --late-writes" : "",
              what.gate ? " --gate" : "");
}

auto scenario_of(command const& asked, std::uint64_t seed) -> scenario {
  return {seed, asked.steps, asked.replicas, asked.broken, asked.verbose, asked.late_writes, asked.gate};
}

/// A world is of use only if everything happens in it.
auto missing_figures(std::map<std::string, std::uint64_t, std::less<>> const& figures, bool gate) -> std::string {
  std::string out;
  for (auto const* name : {"pending", "games that were ready", "games that failed", "games that were allocated by themselves",
                           "handed over", "pending that ended", "finished by another replica", "asynchronous answers"}) {
    if (gate && !figures.contains(name)) out += std::string{out.empty() ? "" : ", "} + name;
  }
  for (auto const* name :
       {"answers: allocated", "answers: cancelled", "answers: contention", "answers: deadline", "answers: exhausted", "answers: invalid",
        "answers: refused", "answers: unavailable", "answers: unknown", "calls cancelled", "compacted watches", "confirmations",
        "confirmed by games", "conflicts", "crashes", "duplicates of the impatient", "expiries", "failed lists", "matchmakers that died",
        "misused ids", "releases", "repeated answers", "requests of two rooms", "servers for those who waited", "sessions", "stops",
        "turned away", "withdrawn writes"}) {
    if (!figures.contains(name)) out += std::string{out.empty() ? "" : ", "} + name;
  }
  return out;
}

auto run_seeds(command const& asked) -> int {
  std::map<std::string, std::uint64_t, std::less<>> figures;
  std::uint64_t steps = 0;
  for (std::uint64_t i = 0; i != asked.seeds; ++i) {
    auto const what = scenario_of(asked, asked.first_seed + i);
    auto const v = run(what);
    if (v.failure) return print_failure(asked, what, v), 1;
    if (i == 0 && !asked.verbose && run(what).digest != v.digest) {
      std::printf("seed %" PRIu64 " does not replay\n", what.seed);
      return 1;
    }
    steps += v.steps;
    for (auto const& [name, number] : v.figures) figures[name] += number;
    if ((i + 1) % 1000 == 0) std::fprintf(stderr, "%" PRIu64 " of %" PRIu64 " seeds, %" PRIu64 " steps\n", i + 1, asked.seeds, steps);
  }
  for (auto const& [name, number] : figures) std::printf("%10" PRIu64 "  %s\n", number, name.c_str());
  std::printf("%" PRIu64 " seeds, %" PRIu64 " steps, 0 violations\n", asked.seeds, steps);
  if (asked.seeds < 1000 || asked.steps < 500) return 0;
  auto const missing = missing_figures(figures, asked.gate);
  if (missing.empty()) return 0;
  std::printf("but it never happened: %s\n", missing.c_str());
  return 1;
}

auto run_mutations(command asked) -> int {
  auto missed = 0;
  for (auto const& m : mutations()) {
    asked.broken = m.what;
    asked.gate = m.gate;
    std::uint64_t tried = 0;
    verdict v;
    while (tried != m.seeds && !v.failure) v = run(scenario_of(asked, asked.first_seed + tried++));
    if (!v.failure) ++missed;
    if (v.failure) {
      auto const again = run(scenario_of(asked, asked.first_seed + tried - 1));
      if (again.failure != v.failure || again.digest != v.digest) {
        std::printf("%s: seed %" PRIu64 " does not fail again as it did\n", std::string{m.name}.c_str(), asked.first_seed + tried - 1);
        ++missed;
      }
    }
    std::printf("%-24s %s after %" PRIu64 " of %" PRIu64 " seeds: %s\n", std::string{m.name}.c_str(), v.failure ? "noticed" : "NOT NOTICED", tried,
                m.seeds, v.failure ? v.failure->c_str() : std::string{m.meaning}.c_str());
  }
  std::printf("%zu mutations, %d not noticed\n", mutations().size(), missed);
  return missed == 0 ? 0 : 1;
}

}  // namespace

auto main(int count, char** words) -> int {
  std::string problem;
  auto const asked = parse(count, words, problem);
  if (!asked) {
    std::fprintf(stderr, "simulation: %s\n%s", problem.c_str(), usage);
    return 2;
  }
  if (asked->help) return std::fputs(usage, stdout), 0;
  return asked->all_mutations ? run_mutations(*asked) : run_seeds(*asked);
}
