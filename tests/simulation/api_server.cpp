#include "api_server.hpp"

#include <agones_alloc/flow/pending.hpp>
#include <agones_alloc/select/claim.hpp>

#include <algorithm>

namespace simulation {

auto api_server::update(update_request const& request, origin const& from) -> std::pair<error_code, game_server_ptr> {
  auto const at = servers_.find(request.base->meta.name.view());
  if (at == servers_.end() || at->second->meta.uid != request.base->meta.uid) return {errc::not_found, nullptr};
  auto const stale = at->second->meta.resource_version != request.base->meta.resource_version;
  auto const ends_wait = world_.broken == mutation::gate_stale_end && has_pending(*request.base) && !has_pending(*request.desired);
  if (stale && world_.broken != mutation::stale_writes && !ends_wait) return {errc::conflict, nullptr};
  auto written = *request.desired;
  break_write(*at->second, written);
  put(std::move(written), from);
  return {error_code{}, read(request.base->meta.name.view())};
}

// As a webhook would that does what it must not.
void api_server::break_write(game_server const& before, game_server& after) const {
  if (world_.broken == mutation::undo_lost && before.status.state == game_server_state::allocated &&
      claims_of(after).size() < claims_of(before).size()) {
    after.status.counters = before.status.counters;
    after.meta.labels = before.meta.labels;
  }
  auto const ended = has_pending(before) && !has_pending(after) && after.status.state != game_server_state::allocated;
  if (world_.broken == mutation::gate_undo_lost && ended) {
    after.status.counters = before.status.counters;
    after.meta.labels = before.meta.labels;
  }
  if (world_.broken != mutation::claim_lost && world_.broken != mutation::digest_lost) return;
  for (auto const& claim : claims_of(after)) {
    if (find_claim(before, claim.id)) continue;
    auto const key = after.meta.annotations.first_with(keys::claim_prefix);
    if (!key) continue;
    if (world_.broken == mutation::claim_lost) {
      release_claim(after, claim.id, release_to::ready);
      after.status.state = game_server_state::allocated;
    } else {
      write_claim(after, before, {claim.id, claim.digest + 1, claim.expires}, claim.made, wall_time::min());
    }
  }
}

auto api_server::read(std::string_view name) const -> game_server_ptr {
  auto const at = servers_.find(name);
  return at == servers_.end() ? nullptr : at->second;
}

auto api_server::list() const -> std::vector<game_server_ptr> {
  std::vector<game_server_ptr> out;
  for (auto const& [name, server] : servers_) out.push_back(server);
  return out;
}

auto api_server::since(std::uint64_t version) const -> std::optional<std::vector<numbered_event>> {
  if (version < floor_) return std::nullopt;
  auto const first = std::upper_bound(history_.begin(), history_.end(), version,
                                      [](std::uint64_t v, numbered_event const& e) { return v < e.version; });
  return std::vector<numbered_event>{first, history_.end()};
}

void api_server::compact(std::uint64_t kept_changes) {
  if (history_.size() <= kept_changes) return;
  auto const gone = static_cast<std::ptrdiff_t>(history_.size() - kept_changes);
  floor_ = history_[static_cast<std::size_t>(gone) - 1].version;
  history_.erase(history_.begin(), history_.begin() + gone);
}

void api_server::create(game_server server, origin const& from) {
  server.meta.resource_version = std::to_string(++version_);
  auto const made = std::make_shared<game_server const>(std::move(server));
  servers_.insert_or_assign(made->meta.name.str(), made);
  note(server_event::kind::added, made);
  for (auto const& tell : observers_) tell(nullptr, made.get(), from);
}

auto api_server::modify(std::string_view name, std::string_view uid, origin const& from,
                        std::function<void(game_server&)> const& change) -> bool {
  auto const now = read(name);
  if (now == nullptr || now->meta.uid != uid) return false;
  auto changed = *now;
  change(changed);
  put(std::move(changed), from);
  return true;
}

void api_server::put(game_server server, origin const& from) {
  server.meta.resource_version = std::to_string(++version_);
  auto const written = std::make_shared<game_server const>(std::move(server));
  auto const before = std::exchange(servers_[written->meta.name.str()], written);
  note(server_event::kind::modified, written);
  for (auto const& tell : observers_) tell(before.get(), written.get(), from);
}

void api_server::remove(std::string_view name, origin const& from) {
  auto const at = servers_.find(name);
  if (at == servers_.end()) return;
  auto last = *at->second;
  last.meta.resource_version = std::to_string(++version_);
  auto const before = at->second;
  servers_.erase(at);
  note(server_event::kind::deleted, std::make_shared<game_server const>(std::move(last)));
  for (auto const& tell : observers_) tell(before.get(), nullptr, from);
}

void api_server::note(server_event::kind what, game_server_ptr server) {
  history_.push_back({version_, {what, std::move(server)}});
}

}  // namespace simulation
