// The requests of the simulation.
#pragma once

#include "oracle.hpp"

#include <agones_alloc/select/request.hpp>

#include <stdexcept>
#include <string_view>
#include <utility>
#include <variant>

namespace simulation {

/// `extra`: another request under the same id.
inline auto wanted(claimant const& who, std::string_view extra = {}) -> request_ptr {
  game_server_allocation wanted;
  wanted.meta.namespace_ = "default";
  game_server_selector selector;
  selector.labels.match_labels.set(keys::fleet_label, who.wants == shape::room ? "room" : "solo");
  if (who.wants == shape::map_solo) selector.labels.match_labels.set("map", "harbour");
  if (!extra.empty()) wanted.spec.metadata.annotations.set("extra", extra);
  if (who.wants == shape::room) {
    counter_selector free_rooms;
    free_rooms.min_available = 1;
    selector.counters.emplace().emplace("rooms", free_rooms);
    auto started = selector;
    started.game_server_state = "Allocated";
    wanted.spec.selectors.push_back(std::move(started));
    counter_action one;
    one.action = "Increment";
    one.amount = who.rooms;
    wanted.spec.counters.emplace().emplace("rooms", one);
    list_action player;
    player.add_values.emplace_back(who.id);
    for (std::int64_t i = 1; i < who.rooms; ++i) player.add_values.emplace_back(who.id + "+" + std::to_string(i));
    wanted.spec.lists.emplace().emplace("players", player);
  } else {
    wanted.spec.metadata.labels.set("session", who.id);
    wanted.spec.metadata.annotations.set("note", "of " + who.id);
  }
  wanted.spec.selectors.push_back(std::move(selector));
  choice_options choice;
  choice.exact = who.exact;
  auto made = allocation_request::make(std::move(wanted), {}, std::move(choice));
  if (auto* const errors = std::get_if<field_errors>(&made)) throw std::logic_error{to_string(*errors)};
  return std::get<request_ptr>(std::move(made));
}

}  // namespace simulation
