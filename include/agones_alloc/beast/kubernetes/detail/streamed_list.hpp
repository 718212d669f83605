// One list of all objects of a kind, as the events that a watch begins with.
#pragma once

#include <agones_alloc/async/detail/complete.hpp>
#include <agones_alloc/beast/kubernetes/answer_meaning.hpp>
#include <agones_alloc/beast/kubernetes/detail/feed_context.hpp>
#include <agones_alloc/beast/kubernetes/kubernetes_watch.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/json/list_page.hpp>

#include <boost/asio/error.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Lives until its end in what it waits for. Confined to the context's strand.
template <class Kind>
class streamed_list final : public running_list, public std::enable_shared_from_this<streamed_list<Kind>> {
 public:
  using object = typename Kind::object;
  using handler = boost::asio::any_completion_handler<void(error_code, object_list<object>)>;

  /// `unserved` takes the handler over when the API server does not know this kind of list.
  streamed_list(std::shared_ptr<feed_context> context, handler done, std::function<void(handler)> unserved)
      : context_{std::move(context)}, call_{std::move(done)}, unserved_{std::move(unserved)} {}

  void start() {
    context_->client.async_stream(context_->streamed_list_request(),
                                  back([](streamed_list& self, error_code ec, std::unique_ptr<response_stream> s) {
                                    if (ec) return self.finish(ec);
                                    self.stream_ = std::move(s);
                                    self.read();
                                  }));
  }
  void cancel() override { finish(errc::cancelled); }
  auto over() const noexcept -> bool override { return call_.over; }

 private:
  template <class F>
  auto back(F f) {
    return context_->bound(call_, [self = this->shared_from_this(), f](auto&&... arguments) {
      if (!self->call_.over) f(*self, std::forward<decltype(arguments)>(arguments)...);
    });
  }

  void read() {
    stream_->async_read_some(back([](streamed_list& self, error_code ec, std::string_view chunk) {
      if (self.stream_->head().status != 200) return self.read_refusal(ec, chunk);
      if (ec) return self.finish(ec == boost::asio::error::eof ? error_code{errc::unavailable} : ec);
      self.take(chunk);
    }));
  }

  void take(std::string_view chunk) {
    while (true) {
      auto const event = reader_.next(chunk);
      if (!event) {
        context_->note_failure("listing", event.error());
        return finish(code_of(event.error()));
      }
      if (*event == nullptr) return read();
      if ((**event).what == watch_event::kind::error) return fail(*(**event).object);
      if ((**event).initial_events_end) {
        version_ = (**event).resource_version;
        return finish({});
      }
      take(**event);
    }
  }

  // What changes while the list is under way comes in between.
  void take(watch_event const& event) {
    if (event.what == watch_event::kind::bookmark) return;
    auto const meta = read_identity(*event.object);
    objects_.erase(key_of(meta));
    if (event.what == watch_event::kind::deleted) return;
    auto one = Kind::read(*event.object);
    if (!one) return context_->note_undecodable(meta, one.error());
    objects_.emplace(key_of(meta), std::make_shared<object const>(*std::move(one)));
  }

  void fail(boost::json::value const& status) {
    auto const failure = read_api_failure(status);
    if (!failure) return finish(errc::malformed);
    context_->note_failure("listing", *failure);
    auto const why = failure->code == 0 ? error_code{errc::unavailable} : judge_read_answer(*failure);
    // A list asks for no version, so that nothing of it can be too old for good.
    finish(why == errc::too_old ? error_code{errc::unavailable} : why);
  }

  void read_refusal(error_code ec, std::string_view chunk) {
    static constexpr std::size_t most = 64 * 1024;
    refusal_ += chunk.substr(0, most - refusal_.size());
    if (!ec && refusal_.size() < most) return read();
    auto const head = stream_->head();
    auto const failure = api_failure_of(head.status, refusal_);
    if (head.status == 400 || head.status == 422) {
      call_.over = true;
      stream_.reset();
      return unserved_(std::move(call_.done));
    }
    context_->note_failure("listing", failure);
    auto const why = head.status == 410 ? error_code{errc::unavailable} : judge_read_answer(failure);
    auto const until = context_->pause_end(head, failure);
    if (until <= context_->time.now()) return finish(why);
    context_->time.async_wait_until(until, back([why](streamed_list& self, error_code) { self.finish(why); }));
  }

  void finish(error_code ec) {
    if (std::exchange(call_.over, true)) return;
    auto const self = this->shared_from_this();
    if (ec == errc::cancelled) call_.inner.emit(boost::asio::cancellation_type::terminal);
    stream_.reset();
    object_list<object> out;
    if (!ec) {
      out.resource_version = std::move(version_);
      out.objects.reserve(objects_.size());
      for (auto& [key, one] : objects_) out.objects.push_back(std::move(one));
    }
    objects_.clear();
    complete(context_->own, std::move(call_.done), ec, std::move(out));
  }

  std::shared_ptr<feed_context> context_;
  feed_call<handler> call_;
  std::function<void(handler)> unserved_;
  std::unique_ptr<response_stream> stream_;
  watch_reader reader_{{}, context_->reader_options(object_place::event)};
  std::map<object_key, std::shared_ptr<object const>> objects_;
  std::string version_;
  std::string refusal_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
