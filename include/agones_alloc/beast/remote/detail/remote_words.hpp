// What the answers of remotes have in common, whatever protocol they come by.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/allocation.hpp>
#include <agones_alloc/model/field_error.hpp>
#include <agones_alloc/model/game_server.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// The same for every code that it comes with (spec 8.9).
inline constexpr std::string_view unallocated_text = "there is no available GameServer to allocate";

/// What a remote does not take, in its words: for callers, who are told fields.
inline auto refused_there(std::string_view words) -> field_errors {
  return {{field_error_type::forbidden, "spec", "", "another cluster does not take it: " + std::string{words}}};
}

/// The server that a remote handed out, as far as it tells.
inline auto server_of(allocation_status&& status, shared_string const& space) -> game_server_ptr {
  game_server out;
  out.meta.name = std::move(status.game_server_name);
  out.meta.namespace_ = space;
  if (status.metadata) {
    out.meta.labels = std::move(status.metadata->labels);
    out.meta.annotations = std::move(status.metadata->annotations);
  }
  out.status.state = game_server_state::allocated;
  out.status.ports = std::move(status.ports);
  out.status.address = std::move(status.address);
  out.status.addresses = std::move(status.addresses);
  out.status.node_name = std::move(status.node_name);
  out.status.counters = std::move(status.counters);
  out.status.lists = std::move(status.lists);
  return std::make_shared<game_server const>(std::move(out));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
