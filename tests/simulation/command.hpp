// What was asked for on the command line.
#pragma once

#include "mutations.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace simulation {

struct command {
  std::uint64_t first_seed{1};
  std::uint64_t seeds{200};
  std::uint64_t steps{1000};
  int replicas{3};
  mutation broken{mutation::none};
  std::string_view broken_name;
  bool all_mutations{false};
  bool verbose{false};
  bool late_writes{false};
  bool gate{false};
  bool help{false};
};

/// Nullopt: it cannot be understood, and `problem` says why.
auto parse(int count, char const* const* words, std::string& problem) -> std::optional<command>;

extern char const* const usage;

}  // namespace simulation
