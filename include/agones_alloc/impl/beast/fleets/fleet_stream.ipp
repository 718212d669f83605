#pragma once

#include <agones_alloc/beast/fleets/fleet_stream.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>

#include <algorithm>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

inline constexpr std::size_t events_in_batch = 32;
inline constexpr std::size_t most_batch_bytes = 4U << 20U;

AGONES_ALLOC_DECL auto fleet_streams::open(fleet_query query, http_request const& request) -> std::shared_ptr<fleet_stream> {
  auto place = stopped_ ? nullptr : places_->enter(request);
  if (place == nullptr) {
    ++counts_.refused;
    return nullptr;
  }
  auto watch = directory_->watch(query.filter, query.resume);
  auto made = std::make_shared<fleet_stream>(shared_from_this(), std::move(watch), std::move(query), std::move(place));
  ++counts_.opened;
  counts_.open = streams_.size();
  if (!ticking_) beat_later();
  return made;
}

AGONES_ALLOC_DECL void fleet_streams::stop() {
  stopped_ = true;
  beating_.emit(boost::asio::cancellation_type::terminal);
  for (auto* const one : std::vector<fleet_stream*>{streams_.begin(), streams_.end()}) {
    if (auto const kept = one->weak_from_this().lock()) kept->give(nullptr);
  }
}

inline void fleet_streams::closed(fleet_stream& one) {
  streams_.erase(&one);
  counts_.open = streams_.size();
}

inline void fleet_streams::beat_later() {
  ticking_ = true;
  time_->async_wait_until(time_->now() + options_.heartbeat / 2,
                          boost::asio::bind_cancellation_slot(beating_.slot(), [self = shared_from_this()](error_code ec) {
                            self->ticking_ = false;
                            if (!ec && !self->stopped_) self->beat();
                          }));
}

// Twice an interval, so that nobody hears nothing for longer than one.
inline void fleet_streams::beat() {
  if (streams_.empty()) return;
  std::string beat;
  form_->append_heartbeat(beat, time_->wall_now());
  auto const text = std::make_shared<std::string const>(std::move(beat));
  auto const now = time_->now();
  for (auto* const one : std::vector<fleet_stream*>{streams_.begin(), streams_.end()}) {
    auto const kept = streams_.contains(one) ? one->weak_from_this().lock() : nullptr;
    if (kept == nullptr) continue;
    if (now >= kept->until_) {
      kept->over_ = true;
      kept->give(nullptr);
    } else if (kept->quiet_) {
      kept->give(text);
    }
    kept->quiet_ = true;
  }
  beat_later();
}

inline auto fleet_streams::written(fleet_stream& to, std::vector<fleet_event> const& events) -> http_body_stream::piece {
  std::string out;
  for (auto const& event : events) {
    if (event.what == fleet_event_kind::reset) ++counts_.resets;
    form_->append(out, event, event.revision == 0 ? std::string{} : directory_->token_of(event.revision), to.query_.parts);
  }
  return std::make_shared<std::string const>(std::move(out));
}

// Who has been told everything up to a place is told from there on what somebody else at that place was told: it was written
// later than all that either has heard.
AGONES_ALLOC_DECL auto fleet_streams::batch_for(fleet_stream& to) -> batch {
  auto const& from = to.watch_.cursor();
  std::string key;
  if (to.abreast_ && !to.query_.shape.empty() && from.at == fleet_cursor::phase::following) {
    key = to.query_.shape + "\n" + std::to_string(from.seen);
    if (auto const at = batches_.find(key); at != batches_.end()) {
      to.watch_.skip_to(at->second.after);
      return at->second;
    }
  }
  std::vector<fleet_event> events;
  batch out;
  out.more = to.watch_.next(events_in_batch, events);
  out.after = to.watch_.cursor();
  bool const reset = !events.empty() && events.front().what == fleet_event_kind::reset;
  if (!events.empty()) out.text = written(to, events);
  counts_.events += events.size();
  if (key.empty() || out.text == nullptr || reset) {
    to.abreast_ = !reset && !out.more && out.after.at == fleet_cursor::phase::following;
    return out;
  }
  batch_bytes_ += out.text->size();
  batches_.emplace(key, out);
  batch_order_.push_back(std::move(key));
  while (batch_bytes_ > most_batch_bytes || batch_order_.size() > 256) {
    auto const oldest = batches_.find(batch_order_.front());
    batch_bytes_ -= oldest->second.text->size();
    batches_.erase(oldest);
    batch_order_.pop_front();
  }
  return out;
}

AGONES_ALLOC_DECL fleet_stream::fleet_stream(std::shared_ptr<fleet_streams> all, fleet_watch watch, fleet_query query,
                                             std::shared_ptr<void> place)
    : all_{std::move(all)},
      watch_{std::move(watch)},
      query_{std::move(query)},
      place_{std::move(place)},
      until_{all_->time_->now() + all_->options_.stream_time} {
  all_->streams_.insert(this);
}

AGONES_ALLOC_DECL fleet_stream::~fleet_stream() { all_->closed(*this); }

AGONES_ALLOC_DECL void fleet_stream::next(std::function<void(piece)> then) {
  then_ = std::move(then);
  if (over_ || all_->stopped_) return give(nullptr);
  if (!std::exchange(began_, true)) {
    if (auto first = all_->form_->beginning(); !first.empty()) return give(std::make_shared<std::string const>(std::move(first)));
  }
  if (!waits_) pump();
}

AGONES_ALLOC_DECL void fleet_stream::stop() {
  over_ = true;
  then_ = nullptr;
  ending_.emit(boost::asio::cancellation_type::terminal);
}

inline void fleet_stream::give(piece what) {
  if (!then_) return;
  auto const then = std::exchange(then_, nullptr);
  quiet_ = false;
  if (what != nullptr) all_->counts_.bytes += what->size();
  then(std::move(what));
}

inline void fleet_stream::pump() {
  while (then_ && !over_) {
    auto found = all_->batch_for(*this);
    if (found.text != nullptr) return give(std::move(found.text));
    if (found.more) continue;
    waits_ = true;
    return watch_.async_wait(boost::asio::bind_cancellation_slot(
        ending_.slot(), [self = shared_from_this()](error_code ec) {
          self->waits_ = false;
          self->over_ = self->over_ || static_cast<bool>(ec);
          if (!self->then_) return;
          if (self->over_) return self->give(nullptr);
          self->pump();
        }));
  }
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
