// What became of an optimistic write: judged from its error code, or from the object read back.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/error.hpp>
#include <agones_alloc/model/game_server.hpp>

#include <cstdint>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// What a store's answer to a write says.
enum class write_answer : std::uint8_t {
  applied,      ///< acknowledged
  conflict,     ///< not applied: the store holds another version
  gone,         ///< not applied: no such object
  refused,      ///< not applied, and asking again will not help
  not_applied,  ///< not applied; the same write may succeed later
  cancelled,    ///< not applied: withdrawn before it was sent
  unknown,      ///< may have been applied
};

/// What the object, read back, says about a write.
enum class read_answer : std::uint8_t {
  applied,     ///< our write is there
  untouched,   ///< the version that the write was based on: not applied
  superseded,  ///< somebody else's newer version; ours is not in it and can no longer be applied
  ambiguous,   ///< a newer version, allocated by somebody else, perhaps on top of ours
  gone,        ///< no such object, or another one of its name
  failed,      ///< the read itself failed: nothing is known
};

/// An error that maps to no condition may have been raised after the write was sent: unknown.
AGONES_ALLOC_DECL auto judge_write(error_code const&) noexcept -> write_answer;

/// `base` is the claimed value, `stamp` the last-allocated annotation that the write carried, `now` what
/// the store has. A write is recognised by its stamp; without it, a version other than base's proves that the
/// write lost, unless another allocation may have been stacked upon it.
AGONES_ALLOC_DECL auto judge_read(game_server const& base, std::string_view stamp, game_server const& now) noexcept
    -> read_answer;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/flow/write_fate.ipp>
#endif
