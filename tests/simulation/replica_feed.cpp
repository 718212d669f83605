#include "replica_ports.hpp"

#include <agones_alloc/select/claim.hpp>

#include <charconv>
#include <cstdio>

namespace simulation {

namespace {

auto number_of(std::string_view version) -> std::uint64_t {
  std::uint64_t out = 0;
  std::from_chars(version.data(), version.data() + version.size(), out);
  return out;
}

// A server that is held, said to be free.
auto denied(game_server const& server) -> game_server_ptr {
  auto lie = server;
  for (auto const& claim : claims_of(server)) release_claim(lie, claim.id, release_to::ready);
  lie.status.state = game_server_state::ready;
  return std::make_shared<game_server const>(std::move(lie));
}

}  // namespace

// The digest of each claim is that of what is asked: then any request is as good as the first.
auto as_seen(world const& w, game_server_ptr server) -> game_server_ptr {
  if (w.broken != mutation::digest_not_compared || server == nullptr || !has_claims(*server)) return server;
  auto changed = *server;
  for (auto const& claim : claims_of(*server)) {
    auto const asked = w.asked.find(claim.id);
    if (asked == w.asked.end()) continue;
    constexpr std::string_view field = "digest=";
    auto const key = claim_annotation(claim.id);
    std::string text{changed.meta.annotations.value_or_empty(key)};
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(asked->second));
    text.replace(text.find(field) + field.size(), 16, digits);
    changed.meta.annotations.set(key, text);
  }
  return std::make_shared<game_server const>(std::move(changed));
}

void replica_feed::drop() {
  core_->watching.clear();
  core_->listing.clear();
}

void replica_feed::do_list(list_handler done) {
  core_->listing.clear();
  core_->listing.push_back(std::move(done));
  auto& w = core_->world_;
  w.queue.in(w.between(1ms, 20ms), [c = core_, &w] {
    auto const broken = w.trouble(w.sky.broken_watch);
    server_list all;
    for (auto& server : c->api_.list()) all.servers.push_back(as_seen(w, std::move(server)));
    all.resource_version = std::to_string(c->api_.version());
    // An answer may be on its way for long: what it says is old when it arrives.
    auto const way = w.trouble(w.sky.stuck_watch) ? w.between(1ms, 900ms) : w.between(1ms, 20ms);
    w.queue.in(way, [c, broken, all, &w] {
      if (c->listing.empty()) return;
      auto told = std::move(c->listing.back());
      c->listing.clear();
      w.count(broken ? "failed lists" : "lists");
      std::move(told)(broken ? error_code{errc::unavailable} : error_code{}, broken ? server_list{} : all);
      c->delivered();
    });
  });
}

void replica_feed::do_watch(std::string from, watch_handler done) {
  core_->watching.clear();
  core_->watching.push_back(std::move(done));
  core_->position = number_of(from);
  nudge();
}

void replica_feed::core::nudge(std::shared_ptr<core> const& self) {
  if (self->scheduled || self->watching.empty()) return;
  auto& w = self->world_;
  auto const changes = self->api_.since(self->position);
  if (changes && changes->empty()) return;
  self->scheduled = true;
  auto const way = w.trouble(w.sky.stuck_watch) ? w.between(20ms, 1500ms) : w.between(200us, 25ms);
  w.queue.in(way, [self] {
    self->scheduled = false;
    self->deliver();
  });
}

void replica_feed::core::deliver() {
  if (watching.empty()) return;
  auto told = std::move(watching.back());
  watching.clear();
  auto changes = api_.since(position);
  error_code ec;
  server_events heard;
  if (world_.trouble(world_.sky.broken_watch)) {
    ec = errc::unavailable;
    world_.count("broken watches");
  } else if (!changes) {
    ec = errc::too_old;
    world_.count("compacted watches");
  } else {
    auto const all = changes->size();
    auto const some = all == 0 ? 0 : 1 + world_.random.below(all);
    for (std::size_t i = 0; i != some; ++i) {
      heard.events.push_back((*changes)[i].event);
      heard.events.back().server = as_seen(world_, heard.events.back().server);
    }
    heard.resource_version = std::to_string(some == 0 ? position : (*changes)[some - 1].version);
    heard = spoil(std::move(heard));
  }
  std::move(told)(ec, std::move(heard));
  delivered();
}

auto replica_feed::core::spoil(server_events heard) -> server_events {
  if (world_.broken == mutation::deaf_feed) {
    std::erase_if(heard.events, [this](server_event const&) { return world_.chance(0.1); });
  }
  if (world_.broken == mutation::lying_feed) {
    for (auto& event : heard.events) {
      auto const held = event.server->status.state == game_server_state::allocated && event.what == server_event::kind::modified;
      if (held && world_.chance(0.3)) event.server = denied(*event.server);
    }
  }
  return heard;
}

}  // namespace simulation
