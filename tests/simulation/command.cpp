#include "command.hpp"

#include <charconv>

namespace simulation {

char const* const usage =
    R"(Usage: simulation [--seeds N] [--steps M] [--seed S] [--replicas R] [--late-writes] [--gate] [--verbose]
                  [--mutation NAME | --mutations] [--help]

Runs allocators, matchmakers, games and a model of the API server in simulated time, with everything going wrong that can,
and checks at every step that no promise is broken. The same seed does the same. Exit code: 0 all is well, 1 a promise was
broken (or a mutation was not noticed), 2 bad options.

  --seeds N        so many worlds, each from a seed of its own; default 200, with --seed 1
  --seed S         the first seed; default 1
  --steps M        steps until faults stop in each; what follows until all is at rest comes on top; default 1000
  --replicas R     1 to 16; default 3
  --late-writes    a write may also be made long after its answer was lost
  --gate           servers are handed over when their games say that they are ready
  --verbose        prints the whole history, not only the end of one that fails
  --mutation NAME  with something broken on purpose
  --mutations      every mutation in turn, each of which must be noticed within its number of seeds
)";

namespace {

auto number(std::string_view text, std::uint64_t low, std::uint64_t high) -> std::optional<std::uint64_t> {
  std::uint64_t out = 0;
  auto const [end, ec] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (ec != std::errc{} || end != text.data() + text.size() || out < low || out > high) return std::nullopt;
  return out;
}

}  // namespace

auto parse(int count, char const* const* words, std::string& problem) -> std::optional<command> {
  constexpr std::uint64_t most = 1'000'000'000'000;
  command out;
  auto seeds_given = false;
  auto one_seed = false;
  for (int i = 1; i < count; ++i) {
    std::string_view const word{words[i]};
    if (word == "--help" || word == "-h") {
      out.help = true;
    } else if (word == "--verbose") {
      out.verbose = true;
    } else if (word == "--late-writes") {
      out.late_writes = true;
    } else if (word == "--gate") {
      out.gate = true;
    } else if (word == "--mutations") {
      out.all_mutations = true;
    } else if (word == "--seeds" || word == "--seed" || word == "--steps" || word == "--replicas" || word == "--mutation") {
      if (i + 1 == count) return problem = std::string{word} + ": a value is missing", std::nullopt;
      std::string_view const text{words[++i]};
      if (word == "--mutation") {
        auto const what = mutation_named(text);
        if (!what) return problem = "--mutation: there is no '" + std::string{text} + "'", std::nullopt;
        out.broken = *what;
        out.broken_name = text;
        continue;
      }
      auto const value = number(text, word == "--seed" ? 0 : 1, word == "--replicas" ? 16 : most);
      if (!value) return problem = std::string{word} + ": '" + std::string{text} + "' is not a number in its range", std::nullopt;
      if (word == "--seeds") out.seeds = *value, seeds_given = true;
      if (word == "--seed") out.first_seed = *value, one_seed = true;
      if (word == "--steps") out.steps = *value;
      if (word == "--replicas") out.replicas = static_cast<int>(*value);
    } else {
      return problem = "unknown option '" + std::string{word} + "'", std::nullopt;
    }
  }
  if (one_seed && !seeds_given) out.seeds = 1;
  return out;
}

}  // namespace simulation
