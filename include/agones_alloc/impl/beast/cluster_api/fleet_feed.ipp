#pragma once

#include <agones_alloc/async/detail/complete.hpp>
#include <agones_alloc/async/detail/object_table.hpp>
#include <agones_alloc/beast/cluster_api/detail/fleet_feed_core.hpp>
#include <agones_alloc/beast/cluster_api/fleet_feed.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

AGONES_ALLOC_DECL fleet_feed_core::fleet_feed_core(boost::asio::any_io_executor executor, fleet_feed::look_function look,
                                                   timer& time, fleet_feed_options options)
    : executor_{std::move(executor)},
      look_{std::move(look)},
      time_{&time},
      options_{options},
      version_{options.first_version},
      forgotten_{options.first_version} {}

/// Everything of an embedded fleet that can change: its size, and what is counted.
inline auto is_same(fleet const& a, fleet const& b) noexcept -> bool {
  return a.meta.uid == b.meta.uid && a.meta.generation == b.meta.generation && a.replicas == b.replicas && a.status == b.status;
}

AGONES_ALLOC_DECL void fleet_feed_core::refresh() {
  looked_ = time_->now();
  auto seen = look_();
  std::vector<fleet_ptr> now;
  now.reserve(seen.size());
  auto old = fleets_.begin();
  auto const add = [&](fleet& one, server_event::kind what) {
    one.meta.resource_version = version_text(++version_);
    now.push_back(std::make_shared<fleet const>(std::move(one)));
    remember(what, now.back());
  };
  auto const drop = [&] {
    auto last = **old++;
    last.meta.resource_version = version_text(++version_);
    remember(server_event::kind::deleted, std::make_shared<fleet const>(std::move(last)));
  };
  for (auto& one : seen) {
    auto const key = key_of(one.meta);
    while (old != fleets_.end() && key_of((*old)->meta) < key) drop();
    if (old == fleets_.end() || key_of((*old)->meta) != key) {
      add(one, server_event::kind::added);
    } else if (auto const& was = *old++; is_same(*was, one)) {
      now.push_back(was);
    } else {
      add(one, server_event::kind::modified);
    }
  }
  while (old != fleets_.end()) drop();
  fleets_.swap(now);
}

// Every watcher asks, and each look copies all fleets.
AGONES_ALLOC_DECL void fleet_feed_core::refresh_when_due() {
  if (!looked_ || time_->now() - *looked_ >= options_.pace) refresh();
}

inline void fleet_feed_core::remember(server_event::kind what, fleet_ptr object) {
  history_.push_back({version_, {what, std::move(object), std::nullopt}});
  while (history_.size() > options_.history) {
    forgotten_ = history_.front().version;
    history_.pop_front();
  }
}

AGONES_ALLOC_DECL auto fleet_feed_core::list() const -> feed_list {
  return {{fleets_.begin(), fleets_.end()}, version_text(version_).str()};
}

AGONES_ALLOC_DECL auto fleet_feed_core::find(object_key const& key) const -> std::optional<api_object> {
  auto const at = std::lower_bound(fleets_.begin(), fleets_.end(), key,
                                   [](fleet_ptr const& one, object_key const& k) { return key_of(one->meta) < k; });
  if (at == fleets_.end() || key_of((*at)->meta) != key) return std::nullopt;
  return api_object{*at};
}

AGONES_ALLOC_DECL auto fleet_feed_core::changes_after(std::string_view from, std::size_t most) const
    -> result<feed_changes> {
  auto const version = version_number(from);
  if (!version || *version < forgotten_ || *version > version_) return error_code{errc::too_old};
  feed_changes out;
  auto last = *version;
  auto at = std::upper_bound(history_.begin(), history_.end(), last,
                             [](std::uint64_t v, change const& c) { return v < c.version; });
  for (; at != history_.end() && out.changes.size() < most; ++at) {
    out.changes.push_back(at->what);
    last = at->version;
  }
  out.resource_version = version_text(last).str();
  return out;
}

AGONES_ALLOC_DECL void fleet_feed_core::wait(std::string_view text, object_feed::waiter done) {
  auto const from = version_number(text);
  if (!from || has_news_for(*from)) return complete_later(std::move(done), {});
  if (waiting_.size() >= options_.waiters) return complete_later(std::move(done), errc::too_many_requests);
  auto const id = next_id_++;
  if (auto slot = boost::asio::get_associated_cancellation_slot(done); slot.is_connected()) {
    slot.assign([weak = weak_from_this(), id](boost::asio::cancellation_type) {
      if (auto const self = weak.lock()) self->cancel(id);
    });
  }
  waiting_.push_back({id, *from, std::move(done)});
  if (!looking_) look_later();
}

inline void fleet_feed_core::look_later() {
  looking_ = std::make_shared<boost::asio::cancellation_signal>();
  auto then = [weak = weak_from_this(), kept = looking_](error_code ec) {
    auto const self = weak.lock();
    if (!self || ec || self->looking_ != kept) return;
    self->looking_.reset();
    self->refresh();
    self->wake();
    if (!self->waiting_.empty() && !self->looking_) self->look_later();
  };
  time_->async_wait_until(
      time_->now() + options_.pace,
      boost::asio::bind_cancellation_slot(looking_->slot(), boost::asio::bind_executor(executor_, std::move(then))));
}

inline void fleet_feed_core::wake() {
  std::vector<waiting> still;
  for (auto& one : waiting_) {
    if (has_news_for(one.from)) {
      complete_later(std::move(one.handler), {});
    } else {
      still.push_back(std::move(one));
    }
  }
  waiting_.swap(still);
}

inline void fleet_feed_core::cancel(std::uint64_t id) {
  std::vector<waiting> still;  // erased handlers of Boost 1.81 cannot be assigned
  for (auto& one : waiting_) {
    if (one.id == id) {
      complete_later(std::move(one.handler), errc::cancelled);
    } else {
      still.push_back(std::move(one));
    }
  }
  waiting_.swap(still);
  if (!waiting_.empty()) return;
  if (auto const last = std::exchange(looking_, nullptr)) last->emit(boost::asio::cancellation_type::terminal);
}

AGONES_ALLOC_DECL void fleet_feed_core::close() {
  for (auto& one : std::exchange(waiting_, {})) complete_later(std::move(one.handler), errc::cancelled);
  if (auto const last = std::exchange(looking_, nullptr)) last->emit(boost::asio::cancellation_type::terminal);
}

inline void fleet_feed_core::complete_later(object_feed::waiter handler, error_code ec) {
  boost::asio::post(executor_, [own = boost::asio::any_completion_executor{executor_}, kept = std::move(handler), ec]() mutable {
    complete(own, std::move(kept), ec);
  });
}

inline auto checked(fleet_feed_options const& options) -> fleet_feed_options const& {
  if (options.history == 0) throw std::invalid_argument{"fleet_feed_options.history: must be at least 1"};
  if (options.pace <= std::chrono::nanoseconds{0}) throw std::invalid_argument{"fleet_feed_options.pace: must be above 0"};
  return options;
}

}  // namespace detail

AGONES_ALLOC_DECL fleet_feed::fleet_feed(boost::asio::any_io_executor executor, look_function look, timer& time,
                                         fleet_feed_options options)
    : core_{std::make_shared<detail::fleet_feed_core>(std::move(executor), std::move(look), time, detail::checked(options))} {}

AGONES_ALLOC_DECL fleet_feed::~fleet_feed() { core_->close(); }

AGONES_ALLOC_DECL auto fleet_feed::kind() const noexcept -> api_kind const& {
  static auto const words = api_kind{"Fleet", "fleets", "fleet", "flt", fleet_columns()};
  return words;
}

AGONES_ALLOC_DECL auto fleet_feed::list() -> feed_list {
  core_->refresh();
  return core_->list();
}

AGONES_ALLOC_DECL auto fleet_feed::find(object_key const& key) -> std::optional<api_object> {
  core_->refresh();
  return core_->find(key);
}

AGONES_ALLOC_DECL auto fleet_feed::changes_after(std::string_view resource_version, std::size_t most)
    -> result<feed_changes> {
  core_->refresh_when_due();
  return core_->changes_after(resource_version, most);
}

AGONES_ALLOC_DECL void fleet_feed::wait(std::string resource_version, waiter done) {
  core_->wait(resource_version, std::move(done));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
