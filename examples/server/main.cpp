// agones-alloc-server: allocates Agones game servers from embedded fleets.
#include "options.hpp"
#include "server.hpp"

#include <cstdio>
#include <exception>

auto main(int argc, char** argv) -> int {
  try {
    auto const options = agones_alloc_server::read_options(argc, argv);
    if (auto const* early = std::get_if<agones_alloc_server::early_exit>(&options)) {
      std::fputs(early->text.c_str(), early->code == 0 ? stdout : stderr);
      return early->code;
    }
    return agones_alloc_server::serve(std::get<agones_alloc_server::server_options>(options));
  } catch (std::exception const& problem) {
    std::fprintf(stderr, "agones-alloc-server: %s\n", problem.what());
    return 1;
  }
}
