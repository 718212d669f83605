// The configuration file among the options: where its name comes from, and where in it a wrong value stands.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace agones_alloc_server {

/// The arguments after the program's name. When none names a configuration file and AGONES_ALLOC_CONFIG does, as if
/// one did: the parser reads the file before it looks at the environment.
auto arguments(int argc, char const* const* argv) -> std::vector<std::string>;

/// A sentence about a wrong option, after `FILE:LINE: ` when it was the file that gave it and not the command line.
auto with_place(std::string const& problem, std::vector<std::string> const& arguments) -> std::string;

/// The same about what in the file is no option: the parser's sentence, said better, with its place.
auto config_problem(std::string const& problem, std::vector<std::string> const& arguments) -> std::string;

/// `--config` with nothing behind it: the file that was meant must not be left out silently.
auto names_no_config(std::vector<std::string> const& arguments) -> bool;

/// Variables of the environment that begin as those of options do and are none of `known`, sorted: most likely misspelt.
auto unknown_variables(std::set<std::string> const& known) -> std::vector<std::string>;

}  // namespace agones_alloc_server
