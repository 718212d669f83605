// Which events somebody wants.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/object_event.hpp>
#include <agones_alloc/select/match.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// All that is set must hold; the default wants everything.
struct event_filter {
  std::uint32_t kinds_and_changes{0};   ///< bits of `event_bit`; 0: all
  std::vector<label_clause> labels{};   ///< of the object, as the change left it
  std::vector<shared_string> namespaces{};
};

inline auto event_bit(object_kind kind, object_change what) noexcept -> std::uint32_t {
  return 1U << (static_cast<unsigned>(kind) * 8 + static_cast<unsigned>(what));
}

AGONES_ALLOC_DECL auto wants(event_filter const&, object_event const&) noexcept -> bool;
/// Whether an event of that kind could pass at all.
AGONES_ALLOC_DECL auto wants_any_of(event_filter const&, object_kind) noexcept -> bool;

/// `gameserver.allocated,gameserver.released`, `fleet`, `gameserver.*`, `*.deleted`: the bits, or what is wrong with it.
AGONES_ALLOC_DECL auto parse_event_types(std::string_view text) -> std::variant<std::uint32_t, std::string>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/flow/event_filter.ipp>
#endif
