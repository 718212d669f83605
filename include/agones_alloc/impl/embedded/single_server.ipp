#pragma once

#include <agones_alloc/embedded/fleet_simulator.hpp>
#include <agones_alloc/embedded/names.hpp>

#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline constexpr std::string_view dev_address_annotation = "agones.dev/dev-address";

}  // namespace detail

AGONES_ALLOC_DECL auto fleet_simulator::add_server(game_server made, game_server_template const& shape, instant t)
    -> field_errors {
  field_errors errors;
  detail::single_server single;
  auto defaults = options_.settings;
  defaults.session_length.reset();
  single.settings = settings_from(made.meta.annotations, defaults, errors);
  single.ports = shape.ports;
  auto const key = key_of(made.meta);
  if (key.name.empty()) errors.push_back({field_error_type::required, "metadata.name", {}, "a game server has a name"});
  if (by_key_.contains(key)) {
    errors.push_back(
        {field_error_type::invalid, "metadata.name", go_quoted(to_string(key)), "there is such a game server"});
  }
  if (!errors.empty()) return errors;

  auto const dev_address = made.meta.annotations.find(detail::dev_address_annotation);
  bool const as_it_is = made.status.state != game_server_state::unset;
  std::optional<placement> place;
  if (by_key_.size() < options_.max_servers && !as_it_is && !dev_address) place = nodes_.place(shape.ports, true);
  if (by_key_.size() >= options_.max_servers || (!as_it_is && !dev_address && !place)) {
    return {{field_error_type::forbidden, "metadata.name", {}, "no node has room for " + to_string(key)}};
  }

  auto const slot = make_slot(key, none);
  auto& s = servers_[slot];
  s.single = std::make_shared<detail::single_server const>(std::move(single));
  s.place = std::move(place);
  s.born = t.now;
  s.ready_at = t.now + draw(s.single->settings.start_up);
  if (made.meta.uid.empty()) made.meta.uid = generated_uid(random_);
  if (made.meta.creation_timestamp == unset_time)
    made.meta.creation_timestamp = std::chrono::floor<std::chrono::seconds>(t.wall);
  if (made.meta.generation == 0) made.meta.generation = 1;
  made.meta.resource_version = {};  // the store's to give
  if (!as_it_is) {
    made.status.state = game_server_state::ready;
    made.status.counters = shape.counters;
    made.status.lists = shape.lists;
    if (dev_address) {
      made.status.address = *dev_address;
      std::vector<std::int32_t> host_ports;
      for (auto const& port : shape.ports) {
        if (has_host_port(port)) host_ports.push_back(port.host_port);
      }
      made.status.ports = status_ports(shape.ports, host_ports);
    } else {
      show_place(made.status, slot);
    }
  }
  // Written by the urgent queue: until then `known` holds what is to be created.
  s.known = std::make_shared<game_server const>(std::move(made));
  urgent_.push_back(slot);
  return {};
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
