// The configuration file among the options: where its name comes from, and where in it a wrong value stands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agones_alloc_server {

/// The arguments after the program's name. When none names a configuration file and AGONES_ALLOC_CONFIG does, as if
/// one did: the parser reads the file before it looks at the environment.
auto arguments(int argc, char const* const* argv) -> std::vector<std::string>;

/// A sentence about a wrong option, after `FILE:LINE: ` when it was the file that gave it and not the command line.
auto with_place(std::string const& problem, std::vector<std::string> const& arguments) -> std::string;

}  // namespace agones_alloc_server
