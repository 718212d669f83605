// Who may ask which host when: so many at once in all, and so many of one host.
#pragma once

#include <agones_alloc/config.hpp>

#include <cstddef>
#include <deque>
#include <iterator>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Whoever must wait is let in in turn: of one host in the order of coming, and the hosts one after the other, so that one that
/// is slow, or has many servers, holds up nobody but its own. Every step takes the same time, however many wait.
template <class Entry>
class host_slots {
 public:
  struct admitted {
    std::string host;
    Entry entry;
  };

  host_slots(std::size_t most, std::size_t most_of_host) noexcept : most_{most}, most_of_host_{most_of_host} {}

  /// True: it has a slot now, to be given back with leave(). False: it waits for next() to tell it.
  auto enter(std::string const& name, Entry const& entry) -> bool {
    auto& at = hosts_[name];
    if (running_ < most_ && at.running < most_of_host_ && at.waiting.empty()) {
      ++at.running;
      ++running_;
      return true;
    }
    at.waiting.push_back(entry);
    ++waiting_;
    list(name, at);
    return false;
  }

  void leave(std::string const& name) {
    auto const found = hosts_.find(name);
    if (found == hosts_.end()) return;
    --running_;
    --found->second.running;
    if (!found->second.waiting.empty()) return list(name, found->second);
    if (found->second.running == 0 && !found->second.listed) hosts_.erase(found);
  }

  /// One of those that wait, with a slot, as long as there is room.
  auto next() -> std::optional<admitted> {
    while (running_ < most_ && !turns_.empty()) {
      auto name = std::move(turns_.front());
      turns_.pop_front();
      auto& at = hosts_.at(name);
      at.listed = false;
      admitted out{std::move(name), std::move(at.waiting.front())};
      at.waiting.pop_front();
      --waiting_;
      ++at.running;
      ++running_;
      list(out.host, at);
      return out;
    }
    return std::nullopt;
  }

  auto running() const noexcept -> std::size_t { return running_; }
  auto waiting() const noexcept -> std::size_t { return waiting_; }

  /// Nobody waits any more.
  void clear() {
    turns_.clear();
    waiting_ = 0;
    for (auto at = hosts_.begin(); at != hosts_.end();) {
      at->second.waiting.clear();
      at->second.listed = false;
      at = at->second.running == 0 ? hosts_.erase(at) : std::next(at);
    }
  }

 private:
  struct host {
    std::size_t running{0};
    std::deque<Entry> waiting;
    bool listed{false};  ///< in turns_: there is room at it, and somebody waits
  };

  void list(std::string const& name, host& at) {
    if (at.listed || at.waiting.empty() || at.running >= most_of_host_) return;
    turns_.push_back(name);
    at.listed = true;
  }

  std::size_t most_;
  std::size_t most_of_host_;
  std::size_t running_{0};
  std::size_t waiting_{0};
  std::unordered_map<std::string, host> hosts_;
  std::deque<std::string> turns_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
