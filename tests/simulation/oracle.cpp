#include "oracle.hpp"

#include "bounds.hpp"

#include <agones_alloc/flow/pending.hpp>

#include <algorithm>

namespace simulation {

namespace {

auto by_id(game_server const& server) {
  std::map<std::string, claim_record, std::less<>> out;
  for (auto& claim : claims_of(server)) out.emplace(claim.id, claim);
  return out;
}

auto session_of(game_server const& server) -> std::string { return std::string{server.meta.labels.value_or_empty("session")}; }

auto is_room(game_server const& server) -> bool { return server.meta.labels.value_or_empty(keys::fleet_label) == "room"; }

auto says_nothing_was_taken(outcome result) -> bool {
  switch (result) {
    case outcome::allocated:
    case outcome::unknown: return false;
    case outcome::exhausted:
    case outcome::contention:
    case outcome::invalid:
    case outcome::refused:
    case outcome::unavailable:
    case outcome::cancelled:
    case outcome::deadline: return true;
  }
  return false;
}

}  // namespace

auto claimant::held_at(std::string_view uid) -> holding* {
  auto const at = std::find_if(holdings.rbegin(), holdings.rend(), [&](holding const& h) { return h.uid == uid; });
  return at == holdings.rend() ? nullptr : &*at;
}

auto claimant::live() const -> std::size_t {
  return static_cast<std::size_t>(std::count_if(holdings.begin(), holdings.end(), [](holding const& h) { return !h.ended; }));
}

oracle::oracle(world& w, api_server& api) : world_{w}, api_{api} {
  api.on_change([this](game_server const* before, game_server const* after, origin const& from) { changed(before, after, from); });
}

auto oracle::enroll(claimant who) -> claimant_ptr {
  auto const made = std::make_shared<claimant>(std::move(who));
  claimants_.emplace(made->id, made);
  return made;
}

auto oracle::known(std::string_view id) const -> claimant_ptr {
  auto const at = claimants_.find(id);
  return at == claimants_.end() ? nullptr : at->second;
}

auto oracle::holders_of(std::string_view uid) -> std::vector<claimant*> {
  auto const at = by_uid_.find(uid);
  if (at == by_uid_.end()) return {};
  std::vector<claimant*> out;
  for (auto* const who : at->second) {
    auto const* held = who->held_at(uid);
    if (held != nullptr && !held->ended) out.push_back(who);
  }
  return out;
}

void oracle::end_all(std::string_view uid) {
  for (auto* const who : holders_of(uid)) who->held_at(uid)->ended = true;
  if (auto const at = by_uid_.find(uid); at != by_uid_.end()) by_uid_.erase(at);
}

void oracle::begun(claimant& who) { ++who.open; }

void oracle::ended(claimant& who, bool allocates, outcome result) {
  --who.open;
  who.last_end = world_.now();
  if (!allocates) return;
  if (result == outcome::allocated) who.answered = true;
  if (result == outcome::unknown) who.unsure = true;
  if (result == outcome::invalid && !who.misused) world_.fail(who.id + ": its own request was refused as another's");
  if (who.open == 0 && !who.unsure && !who.answered && says_nothing_was_taken(result) && who.live() != 0 && !who.misused) {
    world_.fail(who.id + " was told that nothing was taken (" + std::string{to_string(result)} + "), but a server is its");
  }
}

void oracle::changed(game_server const* before, game_server const* after, origin const& from) {
  if (before == nullptr) return;
  if (after == nullptr) return end_all(before->meta.uid);
  changed_claims(*before, *after, from);
  if (world_.gate) changed_pending(*before, *after, from);
  switch (after->status.state) {
    case game_server_state::shutdown:
    case game_server_state::unhealthy:
    case game_server_state::error: end_all(after->meta.uid); break;
    default: break;
  }
  if (from.replica) check_server(*after);
  if (after->status.state == game_server_state::ready && before->status.state != game_server_state::ready) check_free(*after);
}

void oracle::changed_claims(game_server const& before, game_server const& after, origin const& from) {
  auto const old = by_id(before);
  auto const now = by_id(after);
  for (auto const& [id, claim] : old) {
    auto const who = known(id);
    if (who == nullptr) continue;
    auto const still = now.find(id);
    if (still == now.end()) {
      lost(*who, claim, before);
    } else if (!claim.expires && still->second.expires && has_pending(before)) {
      // Its time begins.
    } else if (!claim.expires && still->second.expires) {
      world_.fail("the claim of " + id + " was confirmed, and is not any more");
    } else if (!still->second.expires && !has_pending(after)) {
      if (auto* const held = who->held_at(after.meta.uid)) held->confirmed = true;
    }
  }
  for (auto const& [id, claim] : now) {
    auto const who = known(id);
    if (who == nullptr || old.contains(id)) continue;
    taken(*who, before, from);
    if (!claim.expires && !has_pending(after)) who->held_at(after.meta.uid)->confirmed = true;
  }
  // Those without an id.
  auto const session = session_of(after);
  if (session == session_of(before) || session.empty() || !from.replica) return;
  auto const who = known(session);
  if (who != nullptr && who->plain) taken(*who, before, from);
}

void oracle::taken(claimant& who, game_server const& before, origin const& from) {
  auto const& uid = before.meta.uid;
  auto const holders = holders_of(uid);
  if (who.wants != shape::room && before.status.state != game_server_state::ready) {
    world_.fail(who.id + " was given " + before.meta.name.str() + ", which was not Ready");
  }
  if (who.wants != shape::room && !holders.empty()) {
    world_.fail(who.id + " was given " + before.meta.name.str() + ", which is " + holders.front()->id + "'s");
  }
  if (who.live() != 0) {
    if (!who.impatient) world_.fail(who.id + " was given a second server, " + before.meta.name.str());
    world_.count("duplicates of the impatient");
  }
  if (who.open == 0 && !who.unsure) world_.fail(who.id + " was given a server after it was told that nothing was taken");
  who.holdings.push_back({uid.str(), from.decided, false, false, false});
  by_uid_[uid.str()].push_back(&who);
}

// A server is pending, or is not any more.
void oracle::changed_pending(game_server const& before, game_server const& after, origin const& from) {
  auto const marker = find_pending(after);
  auto const was = find_pending(before);
  auto const name = after.meta.name.str();
  if (marker && !was) {
    world_.count("pending");
    // As the gate's settings say, and not as the marker does.
    world_.queue.in(world_.gate->timeout + bounds::pending, [this, name, uid = after.meta.uid.str(), id = marker->id, since = marker->since] {
      auto const now = api_.read(name);
      auto const last = now != nullptr && now->meta.uid == uid ? find_pending(*now) : std::nullopt;
      // Who asks again with its id may have been given the same server again.
      if (last && last->id == id && last->since == since) world_.fail(name + " is pending for ever");
    });
  }
  if (!was || marker || !from.replica) return;
  if (from.who.substr(0, from.who.find('.')) != was->owner.substr(0, was->owner.find('.'))) world_.count("finished by another replica");
  if (after.status.state != game_server_state::allocated) {
    for (auto* const who : holders_of(after.meta.uid)) {
      if (auto* const held = who->held_at(after.meta.uid); who->plain && !held->told) held->ended = true;
    }
    return world_.count("pending that ended");
  }
  world_.count("handed over");
  if (!ready_.contains(after.meta.uid.str() + " " + was->id)) world_.fail(name + " was handed over before its game was ready");
}

// Its claim was taken off the server.
void oracle::lost(claimant& who, claim_record const& claim, game_server const& before) {
  auto* const held = who.held_at(before.meta.uid);
  if (held == nullptr || held->ended) return;
  held->ended = true;
  if (who.releasing) return world_.count("releases");
  // It was never handed over.
  if (has_pending(before) && !held->told) return;
  if (!claim.expires || !who.ttl) {
    return world_.fail("the claim of " + who.id + " on " + before.meta.name.str() + " was undone, though " +
                       (who.ttl ? "it was confirmed" : "it needs no confirmation"));
  }
  if (world_.now() < held->decided + *who.ttl - bounds::clocks) {
    return world_.fail("the claim of " + who.id + " on " + before.meta.name.str() + " ended before its time");
  }
  world_.count("expiries");
}

void oracle::check_server(game_server const& server) {
  for (auto const& [name, counter] : server.status.counters) {
    if (counter.count > counter.capacity || counter.count < 0) world_.fail("counter " + name.str() + " of " + server.meta.name.str() + " is beyond its capacity");
  }
  if (!is_room(server) || world_.broken == mutation::claim_lost) return;
  auto const written = claims_of(server);
  auto const& rooms = server.status.counters.at("rooms");
  std::int64_t claimed = 0;
  for (auto const& claim : written) {
    auto const who = known(claim.id);
    claimed += who ? who->rooms : 1;
  }
  if (rooms.count != claimed) {
    world_.fail(server.meta.name.str() + " counts " + std::to_string(rooms.count) + " and has claims of " + std::to_string(claimed));
  }
  auto const& players = server.status.lists.at("players");
  for (auto const& claim : written) {
    auto const& values = players.values;
    if (!values || std::find(values->begin(), values->end(), shared_string{claim.id}) == values->end()) {
      world_.fail("list players of " + server.meta.name.str() + " lacks " + claim.id);
    }
  }
  if (players.count() != rooms.count) world_.fail("list players of " + server.meta.name.str() + " has somebody who has no claim");
}

void oracle::check_free(game_server const& server) {
  auto const name = server.meta.name.str();
  auto const holders = holders_of(server.meta.uid);
  if (!holders.empty()) world_.fail(name + " is Ready, but it is " + holders.front()->id + "'s");
  if (has_claims(server)) world_.fail(name + " is Ready with a claim");
  if (!session_of(server).empty()) world_.fail(name + " is Ready with the label of session " + session_of(server));
  if (server.meta.annotations.contains(keys::sdk_confirmed)) world_.fail(name + " is Ready, and its next claim confirmed");
  for (auto const& [counter, value] : server.status.counters) {
    if (value.count != 0) world_.fail(name + " is Ready, and its counter " + counter.str() + " is not 0");
  }
}

void oracle::told_allocated(claimant& who, game_server const& server) {
  auto* const held = who.held_at(server.meta.uid);
  auto const name = server.meta.name.str();
  if (held == nullptr) return world_.fail(who.id + " was told that it has " + name + ", which nobody wrote");
  if (world_.gate && has_pending(server)) return world_.fail(who.id + " was told that it has " + name + ", which is pending");
  if (world_.gate && who.wants != shape::room && !held->ended) {
    bool const ready = std::any_of(ready_.begin(), ready_.end(), [&](std::string const& one) { return one.starts_with(server.meta.uid.str() + " "); });
    if (!ready) world_.fail(who.id + " was told that it has " + name + " before its game was ready");
  }
  if (held->ended) return world_.count("told too late");
  if (!held->told) world_.count("sessions");
  held->told = true;
  if (who.wants == shape::room) return;
  for (auto* const other : holders_of(server.meta.uid)) {
    if (other != &who && other->held_at(server.meta.uid)->told) world_.fail(name + " is held by " + who.id + " and by " + other->id);
  }
}

void oracle::told_confirmed(claimant& who, game_server const& server) {
  auto const* held = who.held_at(server.meta.uid);
  if (held == nullptr || !held->confirmed) return world_.fail(who.id + " was told that its claim is confirmed, but nobody wrote that");
  world_.count("confirmations");
}

void oracle::told_released(claimant& who, game_server const& server) {
  // It may have been given the same server anew meanwhile.
  bool const ended = std::any_of(who.holdings.begin(), who.holdings.end(), [&](holding const& h) { return h.uid == server.meta.uid.view() && h.ended; });
  if (!ended) world_.fail(who.id + " was told that it was released, but nobody wrote that");
}

void oracle::told_not_found(claimant const& who) {
  if (who.impatient) return;  // whoever was asked may know of one server, and not of the other
  for (auto const& held : who.holdings) {
    if (!held.ended && held.told) return world_.fail("nobody knows the claim of " + who.id + " any more");
  }
}

void oracle::check_rest() {
  for (auto const& server : api_.list()) check_settled(*server);
  for (auto const& [id, who] : claimants_) {
    if (who->open != 0) world_.fail("a call of " + id + " has not ended");
  }
}

// Ready, or held by somebody who knows it.
void oracle::check_settled(game_server const& server) {
  auto const name = server.meta.name.str();
  if (server.status.state == game_server_state::ready) return check_free(server);
  if (server.status.state != game_server_state::allocated) return world_.fail(name + " is on its way for ever");
  auto const written = claims_of(server);
  for (auto const& claim : written) {
    if (claim.expires) world_.fail("nobody ends the claim of " + claim.id + " on " + name);
    auto const who = known(claim.id);
    if (who == nullptr && world_.gate && !session_of(server).empty()) continue;  // a gate's, of somebody without an id
    auto const* held = who ? who->held_at(server.meta.uid) : nullptr;
    if (held == nullptr) {
      world_.fail(name + " is lost: it has a claim of " + claim.id + ", which never asked");
    } else if (!held->told && !who->game_confirms && !who->impatient) {
      world_.fail(name + " is lost: its " + claim.id + " does not know of it");
    }
  }
  bool const has_ids = std::any_of(written.begin(), written.end(), [this](claim_record const& claim) { return known(claim.id) != nullptr; });
  if (has_ids) return;
  auto const who = known(session_of(server));
  auto const* held = who ? who->held_at(server.meta.uid) : nullptr;
  if (held == nullptr || (!held->told && !who->unsure)) world_.fail(name + " is lost: it is Allocated, and nobody's");
}

}  // namespace simulation
