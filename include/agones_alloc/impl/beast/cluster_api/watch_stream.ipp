#pragma once

#include <agones_alloc/beast/cluster_api/watch_stream.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>

#include <algorithm>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL watch_stream::watch_stream(boost::asio::any_io_executor executor, object_feed& feed, timer& time,
                                             list_query query, std::string space, object_form form,
                                             watch_options options, std::shared_ptr<void> seat)
    : executor_{std::move(executor)},
      feed_{&feed},
      time_{&time},
      query_{std::move(query)},
      space_{std::move(space)},
      form_{form},
      options_{options},
      seat_{std::move(seat)},
      version_{query_.resource_version},
      end_{time.now() + options.length},
      next_bookmark_{time.now() + options.bookmark_every},
      owes_initial_end_{query_.initial_events && query_.bookmarks} {
  if (!query_.initial_events && !version_.empty() && version_ != "0") return;
  auto all = feed.list();
  version_ = std::move(all.resource_version);
  for (auto& object : all.objects) {
    auto const& meta = meta_of(object);
    if ((space_.empty() || meta.namespace_ == space_) && is_selected(query_, meta)) initial_.push_back(std::move(object));
  }
}

AGONES_ALLOC_DECL void watch_stream::next(std::function<void(piece)> then) {
  then_ = std::move(then);
  pump();
}

AGONES_ALLOC_DECL void watch_stream::stop() {
  ended_ = true;
  disarm();
  then_ = nullptr;
  seat_.reset();
}

AGONES_ALLOC_DECL void watch_stream::pump() {
  if (ended_) return deliver({});
  auto const now = time_->now();
  bool const over = now >= end_;  // even where there is always something to tell
  if (!over && (next_initial_ != initial_.size() || now >= not_before_)) {
    if (auto text = make_piece(); !text.empty()) {
      if (text.size() < options_.piece_bytes) not_before_ = now + options_.pace;
      return deliver(std::move(text));
    }
  }
  if (query_.bookmarks && (over || now >= next_bookmark_)) {
    next_bookmark_ = now + options_.bookmark_every;
    ended_ = over;
    std::string out;
    append_bookmark(out, false);
    return deliver(std::move(out));
  }
  ended_ = over;
  if (over) return deliver({});
  arm();
}

inline void watch_stream::deliver(std::string text) {
  auto const then = std::exchange(then_, nullptr);
  if (!text.empty()) return then(std::make_shared<std::string const>(std::move(text)));
  initial_.clear();
  seat_.reset();
  then(nullptr);
}

/// What there is to tell now; "": nothing.
inline auto watch_stream::make_piece() -> std::string {
  static constexpr std::size_t changes_at_once = 32;
  int batches = 64;  // others have a turn, too, where nothing of a long history is selected
  std::string out;
  form_.now = std::chrono::floor<std::chrono::seconds>(time_->wall_now());
  while (out.size() < options_.piece_bytes) {
    if (next_initial_ != initial_.size()) {
      append_event(out, "ADDED", initial_[next_initial_++]);
      continue;
    }
    initial_.clear();
    next_initial_ = 0;
    if (std::exchange(owes_initial_end_, false)) append_bookmark(out, true);
    if (batches-- == 0) break;
    auto const heard = feed_->changes_after(version_, changes_at_once);
    if (!heard) {
      append_error(out, expired("too old resource version: " + version_));
      ended_ = true;
      break;
    }
    if (heard->changes.empty()) break;
    version_ = heard->resource_version;
    for (auto const& change : heard->changes) append_change(out, change);
  }
  return out;
}

inline void watch_stream::arm() {
  auto const round = ++round_;
  if (auto const now = time_->now(); now < not_before_) return wait_until(not_before_, round);
  wait_until(query_.bookmarks ? std::min(end_, next_bookmark_) : end_, round);
  wait_for_changes(round);
}

inline void watch_stream::disarm() {
  ++round_;
  for (auto* const signal : {&cancel_feed_, &cancel_time_}) {
    if (auto const last = std::exchange(*signal, nullptr)) last->emit(boost::asio::cancellation_type::terminal);
  }
}

// Each wait has its own signal, which its handler keeps: the end of one must not touch the next one's slot.
inline void watch_stream::wait_for_changes(std::uint64_t round) {
  cancel_feed_ = std::make_shared<boost::asio::cancellation_signal>();
  auto then = [self = shared_from_this(), kept = cancel_feed_, round](error_code ec) { self->woken(round, ec); };
  feed_->wait(version_, boost::asio::bind_cancellation_slot(cancel_feed_->slot(),
                                                            boost::asio::bind_executor(executor_, std::move(then))));
}

inline void watch_stream::wait_until(timer::time_point when, std::uint64_t round) {
  cancel_time_ = std::make_shared<boost::asio::cancellation_signal>();
  auto then = [self = shared_from_this(), kept = cancel_time_, round](error_code ec) {
    if (!ec) self->woken(round, ec);
  };
  time_->async_wait_until(when, boost::asio::bind_cancellation_slot(
                                    cancel_time_->slot(), boost::asio::bind_executor(executor_, std::move(then))));
}

inline void watch_stream::woken(std::uint64_t round, error_code ec) {
  if (round != round_ || !then_) return;
  disarm();
  if (!ec) return pump();
  std::string out;
  if (ec == errc::too_many_requests) {
    api_refusal what;
    what.code = 429;
    what.message = "there are too many watches";
    append_error(out, what);
  }
  ended_ = true;
  deliver(std::move(out));
}

inline void watch_stream::append_change(std::string& out, feed_change const& change) {
  auto const& meta = meta_of(change.object);
  if (!space_.empty() && meta.namespace_ != space_) return;
  bool const now = is_selected(query_, meta);
  switch (change.what) {
    case server_event::kind::added:
      if (now) append_event(out, "ADDED", change.object);
      break;
    case server_event::kind::modified: {
      bool const before = change.labels_before ? is_selected(query_, meta, *change.labels_before) : now;
      if (now) append_event(out, before ? "MODIFIED" : "ADDED", change.object);
      if (before && !now) append_event(out, "DELETED", change.object);
      break;
    }
    case server_event::kind::deleted:
      if (now) append_event(out, "DELETED", change.object);
      break;
  }
}

/// `{"type":...,"object":`, of a Table all but its rows; columns are told once.
inline void watch_stream::open_event(std::string& out, std::string_view type, std::string_view version) {
  out.append(R"({"type":")").append(type).append(R"(","object":)");
  if (form_.form != api_form::table) return;
  out.append(R"({"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":")").append(version).append(R"("},)");
  out += R"("columnDefinitions":)";
  if (std::exchange(columns_told_, true)) {
    out += "null";
  } else {
    append_columns(out, form_.kind->columns);
  }
  out += R"(,"rows":[)";
}

inline void watch_stream::append_event(std::string& out, std::string_view type, api_object const& object) {
  open_event(out, type, meta_of(object).resource_version);
  append_object(out, object, form_);
  out += form_.form == api_form::table ? "]}}\n" : "}\n";
}

inline void watch_stream::append_bookmark(std::string& out, bool ends_initial_events) {
  open_event(out, "BOOKMARK", version_);
  if (form_.form == api_form::table) {
    out += "]}}\n";
    return;
  }
  out.append(R"({"kind":")").append(form_.kind->kind).append(R"(","apiVersion":"agones.dev/v1","metadata":{)");
  out.append(R"("resourceVersion":")").append(version_).append(R"(","creationTimestamp":null)");
  if (ends_initial_events) out += R"(,"annotations":{"k8s.io/initial-events-end":"true"})";
  out += "}}}\n";
}

inline void watch_stream::append_error(std::string& out, api_refusal const& what) {
  out += R"({"type":"ERROR","object":)" + to_json(what) + "}\n";
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
