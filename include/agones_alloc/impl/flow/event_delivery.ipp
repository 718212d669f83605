#pragma once

#include <agones_alloc/flow/event_delivery.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL void event_delivery::offer(object_event event, time_point now) {
  ++counts_.offered;
  if (queue_.size() == 0) gathering_since_ = now;
  queue_.push(std::move(event));
}

AGONES_ALLOC_DECL auto event_delivery::send(event_batch_ptr batch) -> outgoing {
  auto const id = ++last_id_;
  sent_.emplace(id, batch);
  return {id, std::move(batch)};
}

// Parts of one batch may be about the same object: they follow one another.
AGONES_ALLOC_DECL auto event_delivery::at_once() const noexcept -> std::size_t {
  return failures_ > 0 || !again_.empty() ? 1 : options_.in_flight;
}

AGONES_ALLOC_DECL auto event_delivery::lingers(time_point now) const -> bool {
  return options_.linger.count() > 0 && queue_.size() < options_.batch && queue_.bytes() < options_.batch_bytes &&
         now - gathering_since_ < options_.linger;
}

AGONES_ALLOC_DECL auto event_delivery::next(time_point now) -> std::optional<outgoing> {
  if (now < not_before_ || sent_.size() >= at_once()) return std::nullopt;
  if (!again_.empty()) {
    auto batch = std::move(again_.front());
    again_.pop_front();
    ++counts_.retries;
    return send(std::move(batch));
  }
  if (!queue_.can_take() || lingers(now)) return std::nullopt;
  auto made = std::make_shared<event_batch>();
  made->events = queue_.take(options_.batch, options_.batch_bytes);
  counts_.in_flight += made->events.size();
  gathering_since_ = now;
  return send(std::move(made));
}

AGONES_ALLOC_DECL auto event_delivery::wake() const -> time_point {
  if (sent_.size() >= at_once()) return time_point::max();  // the end of a delivery comes first
  if (!again_.empty()) return not_before_;
  if (!queue_.can_take()) return time_point::max();
  auto const full = queue_.size() >= options_.batch || queue_.bytes() >= options_.batch_bytes;
  return full ? not_before_ : std::max(not_before_, gathering_since_ + options_.linger);
}

AGONES_ALLOC_DECL void event_delivery::send_again(event_batch_ptr batch, std::size_t from, std::size_t to) {
  if (from == to) return;
  auto const& all = batch->events;
  if (from == 0 && to == all.size()) {
    again_.push_back(std::move(batch));
    return;
  }
  auto part = std::make_shared<event_batch>();
  part->events.assign(all.begin() + static_cast<std::ptrdiff_t>(from), all.begin() + static_cast<std::ptrdiff_t>(to));
  again_.push_back(std::move(part));
}

AGONES_ALLOC_DECL void event_delivery::finished(std::uint64_t id, outcome what, std::size_t accepted,
                                                std::chrono::nanoseconds advice, time_point now, double draw) {
  auto const at = sent_.find(id);
  if (at == sent_.end()) return;
  auto const batch = std::move(at->second);
  sent_.erase(at);
  auto const& all = batch->events;
  auto const gone = [&](std::size_t from, std::size_t to, std::uint64_t event_delivery_counts::*how) {
    counts_.*how += to - from;
    counts_.in_flight -= to - from;
    for (auto i = from; i != to; ++i) queue_.let_go(all[i]);
  };
  auto const front = what == outcome::taken ? all.size() : std::min(accepted, all.size());
  gone(0, front, &event_delivery_counts::sent);
  switch (what) {
    case outcome::taken: failures_ = 0; break;
    case outcome::again: {
      send_again(batch, front, all.size());
      // Deliveries that were out at the same time fail together: that is one failure.
      if (now >= not_before_ || failures_ == 0) ++failures_;
      auto const most = std::max(options_.retry.attempts - 1, 1U);
      auto const wait = retry_.wait_after(std::min(failures_, most), draw).value_or(options_.retry.cap);
      not_before_ = std::max(not_before_, now + std::max(wait, std::min(advice, options_.longest_advice)));
      break;
    }
    case outcome::refused:
      gone(front, all.size(), &event_delivery_counts::refused);
      failures_ = 0;
      break;
    case outcome::too_large: {
      auto const rest = all.size() - front;
      if (rest == 1) {
        gone(front, all.size(), &event_delivery_counts::refused);
      } else {
        send_again(batch, front, front + rest / 2);
        send_again(batch, front + rest / 2, all.size());
      }
      failures_ = 0;
      break;
    }
  }
}

AGONES_ALLOC_DECL auto event_delivery::counts() const noexcept -> event_delivery_counts {
  auto out = counts_;
  out.dropped = queue_.counts().dropped;
  out.merged = queue_.counts().merged;
  out.waiting = queue_.size();
  out.waiting_bytes = queue_.bytes();
  out.failing = failures_ > 0;
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
