// What a fleet simulator is told and what it asks for.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/game_server.hpp>
#include <agones_alloc/port/timer.hpp>

#include <cstdint>
#include <string>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// One moment on both clocks.
struct simulator_instant {
  timer::time_point now{};
  timer::wall_time wall{};
};

struct simulator_action {
  enum class kind : std::uint8_t {
    create,  ///< add `desired`
    update,  ///< replace `base` by `desired` if the store still holds base's version
    remove,  ///< delete `base`, whatever its version
  };
  kind what{kind::create};
  game_server_ptr base;     ///< null for create
  game_server_ptr desired;  ///< null for remove
  std::uint32_t slot{0};    ///< the simulator's own
  std::uint64_t ticket{0};  ///< the simulator's own
};

/// A fleet that lacks game servers because there is no room for one more.
struct fleet_shortage {
  object_key fleet;
  std::int64_t present{0};
  std::int64_t wanted{0};
  std::string reason;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
