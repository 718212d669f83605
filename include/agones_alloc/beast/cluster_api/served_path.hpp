// Paths below /apis/agones.dev/v1.
#pragma once

#include <agones_alloc/config.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct served_path {
  std::string space;        ///< "": all namespaces
  std::string plural;       ///< fleets, gameservers, or what is none of them
  std::string name;         ///< "": the collection
  std::string subresource;  ///< "": the object itself
  friend auto operator==(served_path const&, served_path const&) -> bool = default;
};

inline constexpr std::string_view object_path_prefix = "/apis/agones.dev/v1/";

/// `<prefix>PLURAL`, `<prefix>namespaces/SPACE/PLURAL[/NAME[/SUBRESOURCE]]`, percent-decoded; a slash at the end does not
/// count. nullopt: another path.
AGONES_ALLOC_DECL auto parse_served_path(std::string_view path) -> std::optional<served_path>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/cluster_api/served_path.ipp>
#endif
