// A watch that stays open between the calls that ask for its next events.
#pragma once

#include <agones_alloc/async/detail/complete.hpp>
#include <agones_alloc/beast/kubernetes/answer_meaning.hpp>
#include <agones_alloc/beast/kubernetes/detail/feed_context.hpp>
#include <agones_alloc/beast/kubernetes/kubernetes_watch.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/json/list_page.hpp>

#include <boost/asio/error.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Confined to the context's strand.
template <class Kind>
class open_watch : public std::enable_shared_from_this<open_watch<Kind>> {
 public:
  using object = typename Kind::object;
  using handler = boost::asio::any_completion_handler<void(error_code, watched_changes<object>)>;
  using call_ptr = std::shared_ptr<feed_call<handler>>;

  explicit open_watch(std::shared_ptr<feed_context> context) : context_{std::move(context)} {}

  auto waiting() const noexcept -> bool { return call_ != nullptr; }

  void start(std::string from, handler done) {
    call_ = std::make_shared<feed_call<handler>>(std::move(done));
    bool const goes_on = from == given_;
    auto const held = std::exchange(held_, {});
    if (goes_on && held) return finish(held);
    if (goes_on && stream_) return read();
    stream_.reset();
    if (!goes_on) position_ = given_ = std::move(from);
    open();
  }

  void cancel() {
    if (call_ == nullptr) return;
    auto const call = call_;
    call->over = true;
    call->inner.emit(boost::asio::cancellation_type::terminal);
    finish(errc::cancelled);
  }

  /// The position is of no more use.
  void forget() {
    stream_.reset();
    given_.clear();
    position_.clear();
    held_ = {};
    failed_ = false;
  }

 private:
  // Runs f(*this, arguments...) unless the call has ended.
  template <class F>
  auto back(F f) {
    return context_->bound(*call_, [self = this->shared_from_this(), call = call_, f](auto&&... arguments) {
      if (!call->over) f(*self, std::forward<decltype(arguments)>(arguments)...);
    });
  }

  void open() {
    context_->client.async_stream(
        context_->watch_request(position_),
        back([](open_watch& self, error_code ec, std::unique_ptr<response_stream> s) {
          if (ec) return self.finish(ec);
          self.stream_ = std::move(s);
          if (self.stream_->head().status != 200) return self.read_refusal();
          self.reader_.emplace(self.position_, self.context_->reader_options(object_place::event));
          self.opened_ = self.context_->time.now();
          if (!std::exchange(self.failed_, false)) return self.read();
          watched_changes<object> nothing;
          nothing.resource_version = self.given_;
          self.finish({}, std::move(nothing));
        }));
  }

  void read() {
    stream_->async_read_some(back([](open_watch& self, error_code ec, std::string_view chunk) {
      if (ec) return self.ended(ec);
      self.take(chunk);
    }));
  }

  void take(std::string_view chunk) {
    watched_changes<object> heard;
    error_code trouble;
    while (!trouble) {
      auto const event = reader_->next(chunk);
      if (!event) {
        context_->note_failure("watching", event.error());
        trouble = code_of(event.error());
      } else if (*event == nullptr) {
        break;
      } else {
        trouble = take(**event, heard);
      }
    }
    position_ = reader_->resource_version();
    if (trouble) stream_.reset();
    if (heard.events.empty()) return trouble ? finish(trouble) : read();
    held_ = trouble;
    given_ = position_;
    heard.resource_version = position_;
    finish({}, std::move(heard));
  }

  auto take(watch_event const& event, watched_changes<object>& heard) -> error_code {
    switch (event.what) {
      case watch_event::kind::bookmark: return {};
      case watch_event::kind::error: return meaning_of(*event.object);
      case watch_event::kind::added:
      case watch_event::kind::modified:
      case watch_event::kind::deleted: break;
    }
    auto one = Kind::read(*event.object);
    if (one) {
      heard.events.push_back({event.what, std::make_shared<object const>(*std::move(one))});
      return {};
    }
    object absent;
    absent.meta = read_identity(*event.object);
    context_->note_undecodable(absent.meta, one.error());
    heard.events.push_back({watch_event::kind::deleted, std::make_shared<object const>(std::move(absent))});
    return {};
  }

  auto meaning_of(boost::json::value const& status) -> error_code {
    auto const failure = read_api_failure(status);
    if (!failure) return errc::malformed;
    if (failure->code == 410) return errc::too_old;  // as ordinary as a compaction: no line
    context_->note_failure("watching", *failure);
    return failure->code == 0 ? error_code{errc::unavailable} : judge_read_answer(*failure);
  }

  void ended(error_code ec) {
    bool const as_agreed = ec == boost::asio::error::eof && !reader_->pending();
    stream_.reset();
    // One that ends at once would end at once again.
    if (as_agreed && context_->time.now() - opened_ >= std::chrono::seconds{1}) return open();
    finish(ec == boost::asio::error::eof ? error_code{errc::unavailable} : ec);
  }

  void read_refusal() {
    refusal_.clear();
    read_more_refusal();
  }

  void read_more_refusal() {
    stream_->async_read_some(back([](open_watch& self, error_code ec, std::string_view chunk) {
      static constexpr std::size_t most = 64 * 1024;
      self.refusal_ += chunk.substr(0, most - self.refusal_.size());
      ec || self.refusal_.size() == most ? self.refused() : self.read_more_refusal();
    }));
  }

  void refused() {
    auto const head = stream_->head();
    stream_.reset();
    auto const failure = api_failure_of(head.status, std::exchange(refusal_, {}));
    auto const why = judge_read_answer(failure);
    if (why == errc::too_old) return finish(why);
    context_->note_failure("watching", failure);
    auto const until = context_->pause_end(head, failure);
    if (until <= context_->time.now()) return finish(why);
    context_->time.async_wait_until(until, back([why](open_watch& self, error_code) { self.finish(why); }));
  }

  void finish(error_code ec, watched_changes<object> heard = {}) {
    auto const call = std::exchange(call_, nullptr);
    call->over = true;
    if (ec) stream_.reset();
    if (ec) failed_ = ec != errc::cancelled;
    if (ec == errc::too_old) forget();
    complete(context_->own, std::move(call->done), ec, std::move(heard));
  }

  std::shared_ptr<feed_context> context_;
  call_ptr call_;                            ///< who waits for events; null: nobody
  std::unique_ptr<response_stream> stream_;
  std::optional<watch_reader> reader_;
  timer::time_point opened_{};
  std::string given_;     ///< the version that the last events were given out with
  std::string position_;  ///< where the watch goes on for who comes back with `given_`: bookmarks moved it
  error_code held_;       ///< what came right after the last events
  bool failed_{false};    ///< the last call ended so
  std::string refusal_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
