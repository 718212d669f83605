#pragma once

#include <agones_alloc/embedded/fleet_simulator.hpp>
#include <agones_alloc/embedded/names.hpp>

#include <stdexcept>
#include <string>
#include <unordered_set>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline auto checked(simulator_options options) -> simulator_options {
  if (auto const errors = validate(options); !errors.empty()) throw std::invalid_argument{to_string(errors)};
  return options;
}

inline auto owner_text(std::string_view set_name, std::string_view uid) -> std::string {
  return R"([{"apiVersion":"agones.dev/v1","kind":"GameServerSet","name":")" + std::string{set_name} + R"(","uid":")" +
         std::string{uid} + R"(","controller":true,"blockOwnerDeletion":true}])";
}

inline auto range_error(std::string field, std::int64_t value, std::uint32_t most) -> field_error {
  return {field_error_type::invalid, std::move(field), std::to_string(value),
          "must be between 0 and " + std::to_string(most)};
}

}  // namespace detail

AGONES_ALLOC_DECL fleet_simulator::fleet_simulator(simulator_options options)
    : options_{detail::checked(std::move(options))}, random_{options_.seed}, nodes_{options_} {}

AGONES_ALLOC_DECL auto fleet_simulator::add_fleet(fleet f, instant t) -> field_errors {
  field_errors errors;
  auto const settings = settings_from(f.meta.annotations, options_.settings, errors);
  if (f.replicas < 0 || static_cast<std::uint32_t>(f.replicas) > options_.max_servers) {
    errors.push_back(detail::range_error("spec.replicas", f.replicas, options_.max_servers));
  }
  if (f.meta.name.empty()) errors.push_back({field_error_type::required, "metadata.name", {}, "a fleet has a name"});
  if (fleet_numbers_.contains(key_of(f.meta))) {
    errors.push_back(
        {field_error_type::invalid, "metadata.name", go_quoted(to_string(key_of(f.meta))), "there is such a fleet"});
  }
  if (!errors.empty()) return errors;

  fleet_record made;
  made.settings = settings;
  made.set_name = generated_name(f.meta.name, random_);
  made.labels = f.server_template.labels;
  made.labels.merge({{keys::fleet_label, f.meta.name}, {keys::game_server_set_label, made.set_name}});
  meta_extra extra;
  extra.generate_name = made.set_name.str() + "-";
  extra.owner_references = detail::owner_text(made.set_name, generated_uid(random_));
  made.extra = std::make_shared<meta_extra const>(std::move(extra));
  if (f.meta.uid.empty()) f.meta.uid = generated_uid(random_);
  if (f.meta.creation_timestamp == unset_time)
    f.meta.creation_timestamp = std::chrono::floor<std::chrono::seconds>(t.wall);
  if (f.meta.generation == 0) f.meta.generation = 1;
  made.object = std::move(f);
  auto const number = static_cast<std::uint32_t>(fleets_.size());
  fleet_numbers_.emplace(key_of(made.object.meta), number);
  fleets_.push_back(std::move(made));
  mark_dirty(number);
  mark_changed(number);
  return errors;
}

AGONES_ALLOC_DECL auto fleet_simulator::scale(object_key const& key, std::int64_t replicas) -> field_errors {
  auto const found = fleet_numbers_.find(key);
  if (found == fleet_numbers_.end()) {
    return {{field_error_type::invalid, "metadata.name", go_quoted(to_string(key)), "there is no such fleet"}};
  }
  if (replicas < 0 || replicas > options_.max_servers)
    return {detail::range_error("spec.replicas", replicas, options_.max_servers)};
  auto& object = fleets_[found->second].object;
  if (object.replicas == replicas) return {};
  object.replicas = static_cast<std::int32_t>(replicas);
  fleets_[found->second].told = false;
  ++object.meta.generation;
  mark_dirty(found->second);
  mark_changed(found->second);
  return {};
}

AGONES_ALLOC_DECL auto fleet_simulator::next_action(instant t) -> std::optional<simulator_action> {
  while (true) {
    if (!urgent_.empty()) {
      auto const slot = urgent_.front();
      urgent_.pop_front();
      if (auto action = act_urgently(slot)) return action;
    } else if (!timers_.empty() && timers_.begin()->first <= t.now) {
      auto const slot = timers_.begin()->second;
      set_timer(slot, std::nullopt);
      if (auto action = act(slot, t)) return action;
    } else if (!fleet_timers_.empty() && fleet_timers_.begin()->first <= t.now) {
      auto const number = fleet_timers_.begin()->second;
      fleet_timers_.erase(fleet_timers_.begin());
      mark_dirty(number);
    } else if (!dirty_.empty()) {
      // One server of each fleet in turn, so that a large one does not keep the others waiting.
      auto const number = dirty_.front();
      dirty_.pop_front();
      fleets_[number].dirty = false;
      if (auto action = keep_up(number, t)) {
        mark_dirty(number);
        return action;
      }
    } else {
      return std::nullopt;
    }
  }
}

AGONES_ALLOC_DECL void fleet_simulator::done(simulator_action const& action, result<game_server_ptr> const& outcome,
                                             instant t) {
  auto const slot = action.slot;
  if (slot >= servers_.size() || servers_[slot].ticket != action.ticket) return;  // gone in the meantime
  servers_[slot].writing = false;
  if (!outcome) return failed(slot, outcome.error(), t);
  if (action.what == simulator_action::kind::remove) return forget(slot);
  accept(slot, *outcome, t);
}

AGONES_ALLOC_DECL void fleet_simulator::observe(server_event const& event, instant t) {
  if (!event.server) return;
  auto const found = by_key_.find(key_of(event.server->meta));
  if (found == by_key_.end()) return;
  auto const& known = servers_[found->second].known;
  if (known->meta.uid != event.server->meta.uid) return;  // another server of that name
  if (event.what == server_event::kind::deleted) return forget(found->second);
  if (!detail::is_newer(event.server->meta.resource_version, known->meta.resource_version)) return;
  accept(found->second, event.server, t);
}

AGONES_ALLOC_DECL void fleet_simulator::observe_all(std::vector<game_server_ptr> const& all, instant t) {
  std::unordered_set<object_key, detail::simulated_key_hash> present;
  for (auto const& each : all) {
    present.insert(key_of(each->meta));
    observe({server_event::kind::modified, each}, t);
  }
  for (std::uint32_t slot = 0; slot < servers_.size(); ++slot) {
    if (servers_[slot].ticket != 0 && servers_[slot].is_created() && !present.contains(servers_[slot].key))
      forget(slot);
  }
}

AGONES_ALLOC_DECL auto fleet_simulator::next_time() const -> std::optional<timer::time_point> {
  if (!urgent_.empty() || !dirty_.empty()) return timer::time_point::min();
  std::optional<timer::time_point> out;
  if (!timers_.empty()) out = timers_.begin()->first;
  if (!fleet_timers_.empty() && (!out || fleet_timers_.begin()->first < *out)) out = fleet_timers_.begin()->first;
  return out;
}

AGONES_ALLOC_DECL auto fleet_simulator::fill_fleet(fleet_record const& record) const -> fleet {
  auto out = record.object;
  out.status = record.tally.status();
  return out;
}

AGONES_ALLOC_DECL auto fleet_simulator::fleets() const -> std::vector<fleet> {
  std::vector<fleet> out;
  out.reserve(fleets_.size());
  for (auto const& [key, number] : fleet_numbers_) out.push_back(fill_fleet(fleets_[number]));
  return out;
}

AGONES_ALLOC_DECL auto fleet_simulator::take_changed() -> std::vector<fleet> {
  std::vector<fleet> out;
  out.reserve(changed_.size());
  for (auto const number : changed_) {
    fleets_[number].changed = false;
    out.push_back(fill_fleet(fleets_[number]));
  }
  changed_.clear();
  return out;
}

AGONES_ALLOC_DECL auto fleet_simulator::find_fleet(object_key const& key) const -> std::optional<fleet> {
  auto const found = fleet_numbers_.find(key);
  if (found == fleet_numbers_.end()) return std::nullopt;
  return fill_fleet(fleets_[found->second]);
}

AGONES_ALLOC_DECL auto fleet_simulator::is_full() const noexcept -> bool {
  for (auto const number : waiting_) {
    if (fleets_[number].live < fleets_[number].object.replicas) return true;
  }
  return false;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
