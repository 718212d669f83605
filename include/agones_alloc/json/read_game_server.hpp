// GameServer from JSON (spec 1.4).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/decode_error.hpp>
#include <agones_alloc/json/read_options.hpp>
#include <agones_alloc/model/fleet.hpp>
#include <agones_alloc/model/game_server.hpp>

#include <boost/json/value.hpp>

#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// `.spec` is kept as compact JSON text, "" when absent; it is only looked at for quantities.
/// Strict: the state must be a known word (else it becomes `other`).
AGONES_ALLOC_DECL auto read_game_server(boost::json::value const&, json_read_options const& = {})
    -> decoded<game_server>;

/// The `items` of a GameServerList, and its resource version, where a watch begins.
struct game_server_list {
  shared_string resource_version;
  shared_string continue_token;  ///< "" on the last page
  std::vector<game_server> items;
  friend auto operator==(game_server_list const&, game_server_list const&) -> bool = default;
};

/// `max_entries` does not bound the items: the text's size does.
AGONES_ALLOC_DECL auto read_game_server_list(boost::json::value const&, json_read_options const& = {})
    -> decoded<game_server_list>;

/// A Fleet's spec.template, or a GameServer manifest: `metadata` and `spec`. An absent counter or list capacity is the
/// CRD's default, 1000.
AGONES_ALLOC_DECL auto read_game_server_template(boost::json::value const&, json_read_options const& = {})
    -> decoded<game_server_template>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/json/read_game_server.ipp>
#endif
