// Linked from one object per public header: a body that is not `inline` in the header-only shape, or is
// missing in the compiled one, fails to link. Running it proves that the bodies are really there.
#include <agones_alloc/error.hpp>
#include <agones_alloc/model/game_server.hpp>
#include <agones_alloc/model/outcome.hpp>

#include <cstdio>
#include <string_view>
#include <typeinfo>

auto main() -> int {
  using namespace agones_alloc;
#ifdef AGONES_ALLOC_COMPILED
  constexpr std::string_view wanted = "v0_compiled";
#else
  constexpr std::string_view wanted = "v0_header_only";
#endif
  auto const shape = std::string_view{typeid(game_server).name()};
  auto const code = make_error_code(errc::conflict);
  auto const right = shape.find(wanted) != std::string_view::npos && code == condition::conflict &&
                     to_string(outcome::allocated) == "allocated" &&
                     game_server_state_from(to_string(game_server_state::ready)) == game_server_state::ready;
  std::printf("%s: %s\n", wanted.data(), right ? "as it should be" : "wrong");
  return right ? 0 : 1;
}
