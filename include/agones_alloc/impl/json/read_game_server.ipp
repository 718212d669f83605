#pragma once

#include <agones_alloc/json/detail/read_meta.hpp>
#include <agones_alloc/json/detail/read_status.hpp>
#include <agones_alloc/json/detail/read_template.hpp>
#include <agones_alloc/json/quantity.hpp>
#include <agones_alloc/json/read_game_server.hpp>

#include <boost/json/serialize.hpp>

#include <memory>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail::wire {

inline void read_value(reader& in, place const& at, boost::json::value const& value, game_server_state& out) {
  std::string_view text;
  read_value(in, at, value, text);
  if (!in.ok()) return;
  out = game_server_state_from(text);
  if (out == game_server_state::other && in.options().strict) {
    in.fail(decode_fault::enum_name, at, "unknown game server state \"" + std::string{text.substr(0, 64)} + "\"");
  }
}

inline void read_value(reader& in, place const& at, boost::json::value const& value, player_status& out) {
  read_members(in, at, value, field{"count", out.count}, field{"capacity", out.capacity}, field{"ids", out.ids});
}

inline void read_value(reader& in, place const& at, boost::json::value const& value,
                       std::shared_ptr<player_status const>& out) {
  player_status players;
  read_value(in, at, value, players);
  out = std::make_shared<player_status const>(std::move(players));
}

struct eviction {
  shared_string& safe;
};
inline void read_value(reader& in, place const& at, boost::json::value const& value, eviction const& out) {
  read_members(in, at, value, field{"safe", out.safe});
}

inline void read_value(reader& in, place const& at, boost::json::value const& value, game_server_status& out) {
  eviction const evict{out.eviction_safe};
  read_members(in, at, value, field{"state", out.state}, field{"ports", out.ports}, field{"address", out.address},
               field{"addresses", out.addresses}, field{"nodeName", out.node_name},
               field{"reservedUntil", out.reserved_until}, field{"players", out.players},
               field{"counters", out.counters}, field{"lists", out.lists}, field{"eviction", evict},
               skip("immutableReplicas"));
}

/// A GameServer's spec as text.
struct spec_text {
  shared_string& text;
};
inline void read_value(reader& in, place const& at, boost::json::value const& value, spec_text const& out) {
  if (!value.is_object()) return in.expected(at, "an object", value);
  out.text = shared_string{boost::json::serialize(value)};
  if (!in.options().check_quantities) return;
  if (auto problem = check_pod_quantities(value, at.text())) in.fail(*std::move(problem));
}

inline void read_value(reader& in, place const& at, boost::json::value const& value, game_server& out) {
  spec_text const spec{out.spec};
  read_members(in, at, value, skip("kind"), skip("apiVersion"), field{"metadata", out.meta}, field{"spec", spec},
               field{"status", out.status});
}

struct list_meta {
  game_server_list& list;
};
inline void read_value(reader& in, place const& at, boost::json::value const& value, list_meta const& out) {
  read_members(in, at, value, field{"resourceVersion", out.list.resource_version},
               field{"continue", out.list.continue_token}, skip("selfLink"), skip("remainingItemCount"));
}

struct list_items {
  std::vector<game_server>& items;
};
inline void read_value(reader& in, place const& at, boost::json::value const& value, list_items const& to) {
  auto& out = to.items;
  if (!value.is_array()) return in.expected(at, "an array", value);
  auto const& items = value.get_array();
  out.reserve(items.size());
  for (auto const& item : items) {
    auto const here = at.element(out.size());
    if (auto wrong = wrong_type(item, "GameServer", {"agones.dev/v1"})) {
      wrong->field = here.text() + "." + wrong->field;
      return in.fail(*std::move(wrong));
    }
    wire::read_value(in, here, item, out.emplace_back());
    if (!in.ok()) return;
  }
}

}  // namespace detail::wire

AGONES_ALLOC_DECL auto read_game_server(boost::json::value const& value, json_read_options const& options)
    -> decoded<game_server> {
  if (auto wrong = detail::wire::wrong_type(value, "GameServer", {"agones.dev/v1"})) return *std::move(wrong);
  return detail::wire::run_reader<game_server>(options,
                                               [&](detail::wire::reader& in, detail::wire::place const& at, auto& out) {
                                                 detail::wire::read_value(in, at, value, out);
                                               });
}

AGONES_ALLOC_DECL auto read_game_server_list(boost::json::value const& value, json_read_options const& options)
    -> decoded<game_server_list> {
  if (auto wrong = detail::wire::wrong_type(value, "GameServerList", {"agones.dev/v1"})) return *std::move(wrong);
  return detail::wire::run_reader<game_server_list>(
      options, [&](detail::wire::reader& in, detail::wire::place const& at, auto& out) {
        detail::wire::list_meta const meta{out};
        detail::wire::list_items const items{out.items};
        detail::wire::read_members(in, at, value, detail::wire::skip("kind"), detail::wire::skip("apiVersion"),
                                   detail::wire::field{"metadata", meta}, detail::wire::field{"items", items});
      });
}

AGONES_ALLOC_DECL auto read_game_server_template(boost::json::value const& value, json_read_options const& options)
    -> decoded<game_server_template> {
  return detail::wire::run_reader<game_server_template>(
      options, [&](detail::wire::reader& in, detail::wire::place const& at, auto& out) {
        detail::wire::read_value(in, at, value, out);
      });
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
