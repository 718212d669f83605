#pragma once

#include <agones_alloc/async/detail/kept_connections.hpp>

#include <boost/asio/socket_base.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

inline auto kept_connections::key_of(probe_target const& target) -> std::string {
  std::string out;
  auto const port = std::to_string(target.port);
  out.reserve(target.id.size() + target.address.size() + port.size() + 2);
  return out.append(target.id).append(1, ' ').append(target.address).append(1, ' ').append(port);
}

AGONES_ALLOC_DECL auto kept_connections::take(probe_target const& target) -> std::optional<socket> {
  auto const found = by_key_.find(key_of(target));
  if (found == by_key_.end()) return std::nullopt;
  auto const at = found->second;
  error_code fault;
  // Nobody has asked: whatever came meanwhile is no answer. An end is found when it is used.
  if (at->open.available(fault) != 0 || fault) {
    drop(at);
    return std::nullopt;
  }
  std::optional<socket> out{std::move(at->open)};
  by_key_.erase(found);
  idle_.erase(at);
  return out;
}

AGONES_ALLOC_DECL void kept_connections::keep(probe_target const& target, socket open) {
  if (most_ == 0) return;
  auto key = key_of(target);
  if (auto const other = by_key_.find(key); other != by_key_.end()) drop(other->second);
  // Checks go round: the one that has been idle longest is the one that is asked for next.
  if (idle_.size() >= most_) return;
  idle_.push_back({key, std::move(open), target.until});
  by_key_.emplace(std::move(key), std::prev(idle_.end()));
  sweep_later();
}

AGONES_ALLOC_DECL auto kept_connections::drop_oldest(std::size_t count) -> bool {
  if (idle_.empty()) return false;
  for (; count != 0 && !idle_.empty(); --count) drop(idle_.begin());
  return true;
}

AGONES_ALLOC_DECL void kept_connections::close() {
  most_ = 0;
  by_key_.clear();
  idle_.clear();
  sweep_.cancel();
}

// Nothing is under way on it: there is no reason to wait, for a minute, for what may still come.
inline void kept_connections::drop(place at) {
  error_code ignored;
  at->open.set_option(boost::asio::socket_base::linger{true, 0}, ignored);
  by_key_.erase(at->key);
  idle_.erase(at);
}

// One timer for all, as long as there are some.
inline void kept_connections::sweep_later() {
  if (std::exchange(sweeping_, true)) return;
  sweep_.expires_after(every);
  sweep();
}

inline void kept_connections::sweep() {
  sweep_.async_wait([weak = weak_from_this()](error_code ec) {
    auto const self = weak.lock();
    if (!self) return;
    auto const now = self->sweep_.expiry();
    for (auto at = self->idle_.begin(); at != self->idle_.end();) {
      auto const next = std::next(at);
      if (at->until <= now) self->drop(at);
      at = next;
    }
    self->sweeping_ = !ec && !self->idle_.empty();
    if (!self->sweeping_) return;
    self->sweep_.expires_at(now + every);
    self->sweep();
  });
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
