// What the benchmark of fleet information is asked for.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace bench {

struct fleet_settings {
  bool json{false};
  std::size_t fleets{1000};
  std::size_t servers{100'000};    ///< of the table that is changed, and that is asked for room
  std::size_t changes{1'000'000};
  std::size_t snapshots{4000};
  std::size_t consumers{1000};
  std::size_t slow{20};            ///< further ones, that read nothing
  std::size_t rate{1000};          ///< changes a second while they listen
  std::size_t seconds{10};
  std::size_t queries{100'000};
  std::size_t allocations{200'000};
  std::size_t rounds{3};
};

inline auto read_fleet_settings(int argc, char** argv) -> fleet_settings {
  fleet_settings out;
  struct option {
    std::string_view name;
    std::size_t* target;
  };
  option const options[] = {{"--fleets", &out.fleets},       {"--servers", &out.servers}, {"--changes", &out.changes},
                            {"--snapshots", &out.snapshots}, {"--consumers", &out.consumers}, {"--slow", &out.slow},
                            {"--rate", &out.rate},           {"--seconds", &out.seconds}, {"--queries", &out.queries},
                            {"--allocations", &out.allocations}, {"--rounds", &out.rounds}};
  for (int i = 1; i < argc; ++i) {
    std::string_view const name = argv[i];
    if (name == "--json") {
      out.json = true;
      continue;
    }
    bool taken = false;
    for (auto const& one : options) {
      if (one.name != name || i + 1 >= argc) continue;
      std::string_view const word = argv[++i];
      std::size_t value = 0;
      taken = std::from_chars(word.data(), word.data() + word.size(), value).ptr == word.data() + word.size() && value != 0 &&
              value <= 10'000'000;
      *one.target = value;
      break;
    }
    if (!taken) {
      std::fputs("Usage: fleets [--json] [--fleets N] [--servers N] [--changes N] [--snapshots N] [--consumers N] [--slow N] [--rate N]\n"
                 "              [--seconds N] [--queries N] [--allocations N] [--rounds N]   (each N from 1 to 10000000)\n", stderr);
      std::exit(2);
    }
  }
  return out;
}

}  // namespace bench
