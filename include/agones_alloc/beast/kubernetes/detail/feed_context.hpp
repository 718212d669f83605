// What lists and watches of one kind share: where they run, whom they ask, and how.
#pragma once

#include <agones_alloc/beast/client/http_client.hpp>
#include <agones_alloc/beast/kubernetes/api_path.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/json/api_failure.hpp>
#include <agones_alloc/json/decode_error.hpp>
#include <agones_alloc/json/object_reader.hpp>
#include <agones_alloc/model/meta.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/strand.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct kubernetes_watch_options;

namespace detail {

/// One call of a user. Whatever comes in for it after its end is ignored.
template <class Handler>
struct feed_call {
  explicit feed_call(Handler h) : done{std::move(h)} {}
  Handler done;
  boost::asio::cancellation_signal inner;  ///< towards the client or the timer; a signal of its own for each call
  bool over{false};
};

/// A list that is under way.
class running_list {
 public:
  virtual ~running_list() = default;
  virtual void cancel() = 0;
  virtual auto over() const noexcept -> bool = 0;
};

class feed_context {
 public:
  AGONES_ALLOC_DECL feed_context(boost::asio::any_io_executor, http_client&, timer&, api_resource,
                                 kubernetes_watch_options const&);
  AGONES_ALLOC_DECL ~feed_context();

  /// `f` on the strand, for an operation that the call's end cancels.
  template <class Handler, class F>
  auto bound(feed_call<Handler>& call, F f) {
    return boost::asio::bind_cancellation_slot(call.inner.slot(), boost::asio::bind_executor(strand, std::move(f)));
  }

  AGONES_ALLOC_DECL auto list_request(std::size_t page, std::string_view token) const -> client_request;
  AGONES_ALLOC_DECL auto streamed_list_request() const -> client_request;
  AGONES_ALLOC_DECL auto watch_request(std::string_view version) const -> client_request;
  AGONES_ALLOC_DECL auto reader_options(object_place) const -> object_reader_options;

  /// When a refusal's pause is over.
  AGONES_ALLOC_DECL auto pause_end(response_head const&, api_failure const&) const -> timer::time_point;
  /// `doing`: "listing", "watching".
  AGONES_ALLOC_DECL void note_failure(char const* doing, api_failure const&) const;
  AGONES_ALLOC_DECL void note_failure(char const* doing, decode_error const&) const;
  AGONES_ALLOC_DECL void note_undecodable(object_meta const&, decode_error const&) const;

  boost::asio::strand<boost::asio::any_io_executor> strand;
  boost::asio::any_completion_executor own;
  http_client& client;
  timer& time;
  std::unique_ptr<kubernetes_watch_options const> options;

 private:
  std::string path_;
  std::string plural_;
};

}  // namespace detail

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
