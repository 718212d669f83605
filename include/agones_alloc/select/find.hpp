// The reference search of one request over an ordered list (spec 3): what the index must agree with.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/game_server.hpp>
#include <agones_alloc/model/outcome.hpp>
#include <agones_alloc/port/random.hpp>
#include <agones_alloc/select/request.hpp>

#include <cstddef>
#include <optional>
#include <span>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct found_server {
  std::size_t index{0};     ///< into the list
  std::size_t selector{0};  ///< the selector it matched
  friend auto operator==(found_server const&, found_server const&) -> bool = default;
};

/// Lowest-numbered selector with a hit wins, then list order; among the first `top_n` hits a uniform draw, among all
/// hits for order_kind::random. `list` is in the request's order, best first; nothing is drawn where one hit is left.
/// A target is taken if it matches a selector; a required one that does not, or is not in the list, finds nothing.
AGONES_ALLOC_DECL auto find(allocation_request const&, std::span<game_server_ptr const> list, random_source&)
    -> std::optional<found_server>;

/// How many servers of `all` remain after each clause, per selector, in the order of spec 3. Not for hot paths.
AGONES_ALLOC_DECL auto explain(allocation_request const&, std::span<game_server_ptr const> all) -> breakdown;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/select/find.ipp>
#endif
