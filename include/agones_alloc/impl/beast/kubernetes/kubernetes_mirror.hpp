#pragma once

#include <agones_alloc/beast/kubernetes/kubernetes_mirror.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

// Confined to its strand, but for the copy, which is under the lock.
template <class Kind>
class mirror_core : public std::enable_shared_from_this<mirror_core<Kind>> {
 public:
  using object = typename Kind::object;
  using pointer = std::shared_ptr<object const>;

  mirror_core(boost::asio::any_io_executor executor, http_client& client, timer& time, random_source& random,
              kubernetes_mirror_options options)
      : strand_{boost::asio::make_strand(executor)}, watch_{executor, client, time, std::move(options.watch)},
        timer_{time}, random_{random}, retry_{options.retry}, on_change_{std::move(options.on_change)},
        on_object_{std::move(options.on_object)} {}

  void start() {
    boost::asio::post(strand_, [self = this->shared_from_this()] {
      if (!std::exchange(self->started_, true) && !self->stopped_) self->go_on();
    });
  }
  void stop() {
    boost::asio::post(strand_, [self = this->shared_from_this()] {
      self->stopped_ = true;
      self->pending_.emit(boost::asio::cancellation_type::terminal);
    });
  }
  auto synced() const noexcept -> bool { return synced_; }
  auto find(object_key const& key) const -> pointer {
    std::lock_guard const lock{mutex_};
    auto const found = copy_.find(key);
    return found == copy_.end() ? nullptr : found->second;
  }
  auto snapshot() const -> std::vector<pointer> {
    std::lock_guard const lock{mutex_};
    std::vector<pointer> out;
    out.reserve(copy_.size());
    for (auto const& [key, one] : copy_) out.push_back(one);
    return out;
  }
  auto size() const -> std::size_t {
    std::lock_guard const lock{mutex_};
    return copy_.size();
  }

 private:
  template <class F>
  auto back(F f) {
    auto on_strand = [self = this->shared_from_this(), f](auto&&... arguments) {
      if (!self->stopped_) f(*self, std::forward<decltype(arguments)>(arguments)...);
    };
    return boost::asio::bind_cancellation_slot(pending_.slot(),
                                               boost::asio::bind_executor(strand_, std::move(on_strand)));
  }

  void go_on() {
    if (version_.empty()) {
      watch_.async_list(back([](mirror_core& self, error_code ec, object_list<object> all) {
        self.listed(ec, std::move(all));
      }));
    } else {
      watch_.async_watch(version_, back([](mirror_core& self, error_code ec, watched_changes<object> heard) {
                           self.heard(ec, std::move(heard));
                         }));
    }
  }

  void listed(error_code ec, object_list<object> all) {
    if (ec) return pause();
    std::map<object_key, pointer> fresh;
    for (auto& one : all.objects) {
      auto key = key_of(one->meta);
      fresh.insert_or_assign(std::move(key), std::move(one));
    }
    {
      std::lock_guard const lock{mutex_};
      copy_.swap(fresh);
    }
    version_ = std::move(all.resource_version);
    failures_ = 0;
    synced_ = true;
    if (on_change_) on_change_();
    go_on();
  }

  void heard(error_code ec, watched_changes<object> news) {
    if (ec == errc::too_old) {
      version_.clear();
      return relists_++ == 0 ? go_on() : pause();  // a new list that is too old at once must not make a busy loop
    }
    if (ec) return pause();
    std::vector<object_key> told;
    {
      std::lock_guard const lock{mutex_};
      for (auto& event : news.events) {
        if (on_object_) told.push_back(key_of(event.object->meta));
        take(event);
      }
    }
    version_ = std::move(news.resource_version);
    if (news.events.empty()) return go_on();  // it is heard again, perhaps only for a moment
    failures_ = 0;
    relists_ = 0;
    for (auto const& key : told) on_object_(key);
    if (on_change_ && !on_object_) on_change_();
    go_on();
  }

  void take(watched_change<object>& event) {
    auto key = key_of(event.object->meta);
    if (event.what == watch_event::kind::deleted) {
      copy_.erase(key);
    } else {
      copy_.insert_or_assign(std::move(key), std::move(event.object));
    }
  }

  void pause() {
    auto const most = std::max(retry_.options().attempts - 1, 1U);
    auto const wait = retry_.wait_after(std::min(++failures_, most), random_.unit()).value_or(retry_.options().cap);
    timer_.async_wait_until(timer_.now() + wait, back([](mirror_core& self, error_code) { self.go_on(); }));
  }

  boost::asio::strand<boost::asio::any_io_executor> strand_;
  kubernetes_watch<Kind> watch_;
  timer& timer_;
  random_source& random_;
  backoff retry_;
  std::function<void()> on_change_;
  std::function<void(object_key const&)> on_object_;
  boost::asio::cancellation_signal pending_;
  std::string version_;  ///< where the next watch goes on; "": list first
  std::uint32_t failures_{0};
  std::uint32_t relists_{0};
  bool started_{false};
  bool stopped_{false};
  std::atomic<bool> synced_{false};

  std::mutex mutable mutex_;
  std::map<object_key, pointer> copy_;
};

}  // namespace detail

template <class Kind>
kubernetes_mirror<Kind>::kubernetes_mirror(boost::asio::any_io_executor executor, http_client& client, timer& time,
                                           random_source& random, kubernetes_mirror_options options) {
  check(options.retry, "kubernetes_mirror_options.retry");
  core_ = std::make_shared<detail::mirror_core<Kind>>(std::move(executor), client, time, random, std::move(options));
}

template <class Kind>
kubernetes_mirror<Kind>::~kubernetes_mirror() {
  core_->stop();
}

template <class Kind>
void kubernetes_mirror<Kind>::start() {
  core_->start();
}

template <class Kind>
void kubernetes_mirror<Kind>::stop() {
  core_->stop();
}

template <class Kind>
auto kubernetes_mirror<Kind>::synced() const noexcept -> bool {
  return core_->synced();
}

template <class Kind>
auto kubernetes_mirror<Kind>::find(object_key const& key) const -> pointer {
  return core_->find(key);
}

template <class Kind>
auto kubernetes_mirror<Kind>::snapshot() const -> std::vector<pointer> {
  return core_->snapshot();
}

template <class Kind>
auto kubernetes_mirror<Kind>::size() const -> std::size_t {
  return core_->size();
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
