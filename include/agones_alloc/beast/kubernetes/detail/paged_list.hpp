// One list of all objects of a kind, page by page.
#pragma once

#include <agones_alloc/async/detail/complete.hpp>
#include <agones_alloc/beast/kubernetes/answer_meaning.hpp>
#include <agones_alloc/beast/kubernetes/detail/feed_context.hpp>
#include <agones_alloc/beast/kubernetes/kubernetes_watch.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/json/list_page.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Lives until its end in what it waits for. Confined to the context's strand.
template <class Kind>
class paged_list final : public running_list, public std::enable_shared_from_this<paged_list<Kind>> {
 public:
  using object = typename Kind::object;
  using handler = boost::asio::any_completion_handler<void(error_code, object_list<object>)>;

  paged_list(std::shared_ptr<feed_context> context, handler done)
      : context_{std::move(context)}, call_{std::move(done)}, page_{context_->options->page} {}

  void start() { ask(); }
  void cancel() override { finish(errc::cancelled, true); }
  auto over() const noexcept -> bool override { return call_.over; }

 private:
  void ask() {
    context_->client.async_request(context_->list_request(page_, token_),
                                   context_->bound(call_, [self = this->shared_from_this()](
                                                              error_code ec, client_response const& answer) {
                                     if (!self->call_.over) self->answered(ec, answer);
                                   }));
  }

  void again() {
    token_.clear();
    listed_ = {};
    ask();
  }

  void answered(error_code ec, client_response const& answer) {
    if (ec == errc::limit_exceeded && page_ > 1) {
      page_ /= 2;
      return again();
    }
    if (ec) return finish(ec);
    if (answer.status == 200) return take(answer.body);
    // The version of the pages before was forgotten meanwhile.
    if (answer.status == 410 && !token_.empty() && restarts_++ < most_restarts) return again();
    auto const failure = api_failure_of(answer.status, answer.body);
    context_->note_failure("listing", failure);
    // A list asks for no version, so that nothing of it can be too old for good.
    auto const why = answer.status == 410 ? error_code{errc::unavailable} : judge_read_answer(failure);
    auto const until = context_->pause_end(answer, failure);
    if (until <= context_->time.now()) return finish(why);
    context_->time.async_wait_until(until, context_->bound(call_, [self = this->shared_from_this(), why](error_code) {
                                      if (!self->call_.over) self->finish(why);
                                    }));
  }

  void take(std::string_view body) {
    object_reader reader{context_->reader_options(object_place::list)};
    auto const document = reader.next(body);
    if (!document) return unreadable(document.error());
    if (*document == nullptr) return unreadable({decode_fault::syntax, {}, "unexpected end of JSON", 0, 0, 0});
    auto const page = read_list_page(**document);
    if (!page) return unreadable(page.error());
    listed_.objects.reserve(listed_.objects.size() + page->items->size());
    for (auto const& item : *page->items) {
      auto one = Kind::read(item);
      if (one) {
        listed_.objects.push_back(std::make_shared<object const>(*std::move(one)));
      } else {
        context_->note_undecodable(read_identity(item), one.error());
      }
    }
    listed_.resource_version = page->resource_version;
    token_ = page->continue_token;
    token_.empty() ? finish({}) : ask();
  }

  void unreadable(decode_error const& error) {
    context_->note_failure("listing", error);
    finish(code_of(error));
  }

  void finish(error_code ec, bool withdraw = false) {
    if (std::exchange(call_.over, true)) return;
    auto const self = this->shared_from_this();
    if (withdraw) call_.inner.emit(boost::asio::cancellation_type::terminal);
    auto listed = std::exchange(listed_, {});
    complete(context_->own, std::move(call_.done), ec, ec ? object_list<object>{} : std::move(listed));
  }

  static constexpr std::uint32_t most_restarts = 3;

  std::shared_ptr<feed_context> context_;
  feed_call<handler> call_;
  std::size_t page_;
  std::string token_;
  object_list<object> listed_;
  std::uint32_t restarts_{0};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
