#include "fleet.hpp"

#include <agones_alloc/flow/pending.hpp>
#include <agones_alloc/select/claim.hpp>

#include <algorithm>
#include <utility>

namespace simulation {

namespace {

auto place_of(game_server const& server) -> std::string { return std::string{server.meta.annotations.value_or_empty("place")}; }

}  // namespace

fleet::fleet(world& w, api_server& api, oracle& o) : world_{w}, api_{api}, oracle_{o}, same_names_{w.chance(0.5)} {
  api.on_change([this](game_server const* before, game_server const* after, origin const&) { changed(before, after); });
}

void fleet::start() {
  auto const solos = 2 + world_.random.below(4);
  auto const rooms = 1 + world_.random.below(2);
  for (std::uint64_t i = 0; i != solos; ++i) make("solo-" + std::to_string(i));
  for (std::uint64_t i = 0; i != rooms; ++i) make("room-" + std::to_string(i));
  places_ = solos + rooms;
}

void fleet::make(std::string const& place) {
  auto const birth = std::to_string(++births_);
  game_server server;
  server.meta.name = same_names_ ? place : place + "-" + birth;
  server.meta.namespace_ = "default";
  server.meta.uid = place + "/" + birth;
  server.meta.annotations.set("place", place);
  auto const is_room = place.starts_with("room");
  server.meta.labels.set(keys::fleet_label, is_room ? "room" : "solo");
  if (place.ends_with('0')) server.meta.labels.set("map", "harbour");
  server.status.node_name = "node-" + std::to_string(world_.random.below(2));
  server.status.address = "10.0.0.1";
  server.status.state = game_server_state::ready;
  if (is_room) {
    server.status.counters.emplace("rooms", counter_status{0, 3});
    server.status.lists.emplace("players", list_status{3, std::vector<shared_string>{}});
  }
  world_.say("fleet: makes " + server.meta.name.str());
  api_.create(std::move(server), {"fleet"});
}

void fleet::changed(game_server const* before, game_server const* after) {
  if (before == nullptr) return;
  if (after == nullptr) {
    world_.queue.in(world_.between(5ms, 300ms), [this, place = place_of(*before)] { make(place); });
    return;
  }
  auto const& name = after->meta.name.str();
  auto const& uid = after->meta.uid.str();
  if (after->status.state == game_server_state::shutdown && before->status.state != game_server_state::shutdown) return remove_later(name, uid);
  if (world_.gate && after->status.state == game_server_state::unhealthy && has_pending(*before)) return remove_later(name, uid);
  if (has_pending(*after) && !has_pending(*before)) {
    get_ready(name, uid, std::string{after->meta.annotations.value_or_empty(keys::pending_id_annotation)});
  }
  bool const began = counted_state(*after) == game_server_state::allocated && counted_state(*before) != game_server_state::allocated;
  if (began) {
    auto const session = session_of_[uid] = ++sessions_;
    world_.queue.in(world_.between(1ms, 200ms), [this, name, uid, session] { begin_game(name, uid, session); });
  }
}

void fleet::get_ready(std::string const& name, std::string const& uid, std::string const& id) {
  auto const what = world_.random.below(10);
  if (what == 9) return;  // it hangs
  auto const most = world_.gate->timeout + world_.gate->timeout / 4;
  world_.queue.in(world_.between(1ms, most), [this, name, uid, id, what] { answer(name, uid, id, what); });
}

void fleet::answer(std::string const& name, std::string const& uid, std::string const& id, std::uint64_t what) {
  auto const now = api_.read(name);
  if (now == nullptr || now->meta.uid != uid || now->meta.annotations.value_or_empty(keys::pending_id_annotation) != id) return;
  if (what == 8) {
    world_.say("game: " + name + " cannot play");
    world_.count("games that failed");
    api_.modify(name, uid, {"game"}, [](game_server& server) { server.meta.annotations.set(keys::sdk_session_ready, "failed"); });
    return;
  }
  oracle_.game_is_ready(uid, id);
  if (what == 7 && world_.gate->carrier == gate_carrier::reserved) {
    world_.say("game: " + name + " allocates itself");
    world_.count("games that were allocated by themselves");
    api_.modify(name, uid, {"game"}, [](game_server& server) { server.status.state = game_server_state::allocated; });
    return;
  }
  world_.say("game: " + name + " is ready");
  world_.count("games that were ready");
  api_.modify(name, uid, {"game"}, [&](game_server& server) { server.meta.annotations.set(keys::sdk_session_ready, what < 4 ? "true" : id); });
}

auto fleet::plays(std::string const& name, std::string const& uid, std::uint64_t session) const -> bool {
  auto const now = api_.read(name);
  if (now == nullptr || now->meta.uid != uid || now->status.state != game_server_state::allocated) return false;
  return session_of_.at(uid) == session;
}

void fleet::begin_game(std::string const& name, std::string const& uid, std::uint64_t session) {
  confirm(name, uid, session);
  world_.queue.in(world_.between(500ms, 12s), [this, name, uid, session] { end_game(name, uid, session); });
}

// It looks again and again, as sessions may join.
void fleet::confirm(std::string const& name, std::string const& uid, std::uint64_t session) {
  if (!plays(name, uid, session)) return;
  auto const claims = claims_of(*api_.read(name));
  auto const wants = [this](claim_record const& claim) {
    auto const who = oracle_.known(claim.id);
    return claim.expires && who && who->game_confirms;
  };
  auto const next = std::find_if(claims.begin(), claims.end(), wants);
  if (next != claims.end()) {
    // There is room for one word: "true" is for all.
    auto const all = claims.size() != 1 || world_.chance(0.5);
    auto const said = all ? std::string{"true"} : next->id;
    world_.say("game: " + name + " confirms " + said);
    world_.count("confirmed by games");
    for (auto const& claim : claims) {
      if (auto const who = oracle_.known(claim.id)) who->game_confirms = true;
    }
    api_.modify(name, uid, {"game"}, [&](game_server& server) { server.meta.annotations.set(keys::sdk_confirmed, said); });
  }
  world_.queue.in(world_.between(50ms, 400ms), [this, name, uid, session] { confirm(name, uid, session); });
}

void fleet::end_game(std::string const& name, std::string const& uid, std::uint64_t session) {
  if (world_.calm || !plays(name, uid, session)) return;
  switch (world_.random.below(3)) {
    case 0:
      world_.say("game: " + name + " ends");
      api_.modify(name, uid, {"game"}, [](game_server& server) { server.status.state = game_server_state::shutdown; });
      return;
    case 1:
      world_.say("game: " + name + " crashes");
      api_.modify(name, uid, {"game"}, [](game_server& server) { server.status.state = game_server_state::unhealthy; });
      return remove_later(name, uid);
    default:
      world_.say("game: " + name + " vanishes");
      return api_.remove(name, {"game"});
  }
}

void fleet::remove_later(std::string const& name, std::string const& uid) {
  world_.queue.in(world_.between(1ms, 200ms), [this, name, uid] {
    auto const now = api_.read(name);
    if (now != nullptr && now->meta.uid == uid) api_.remove(name, {"fleet"});
  });
}

auto fleet::any_server() -> game_server_ptr {
  auto const all = api_.list();
  return all.empty() ? nullptr : all[world_.random.below(all.size())];
}

void fleet::disturb() {
  auto const server = any_server();
  if (server == nullptr) return;
  world_.say("sidecar: writes " + server->meta.name.str());
  api_.modify(server->meta.name.str(), server->meta.uid.view(), {"sidecar"},
              [&](game_server& now) { now.meta.annotations.set("health", std::to_string(world_.random.below(1000))); });
}

void fleet::take_away() {
  auto const server = any_server();
  if (server == nullptr) return;
  world_.say("fleet: takes " + server->meta.name.str() + " away");
  api_.remove(server->meta.name.str(), {"fleet"});
}

}  // namespace simulation
