// List and watch of one kind of object at an API server.
#pragma once

#include <agones_alloc/beast/client/http_client.hpp>
#include <agones_alloc/beast/kubernetes/api_path.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/error.hpp>
#include <agones_alloc/json/watch_reader.hpp>
#include <agones_alloc/port/logger.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct kubernetes_watch_options {
  std::string ns{};                      ///< "": all namespaces, or a kind that has none
  std::string label_selector{};          ///< Kubernetes' own syntax; "": everything
  std::size_t page{500};                 ///< objects asked for at a time, at least 1
  std::size_t page_bytes{64U << 20U};    ///< most bytes of a page; where it is too little, pages become smaller
  std::size_t object_bytes{8U << 20U};   ///< most bytes of an event
  /// Lists by the events that a watch begins with (WatchList), where the API server serves that; pages where it does not.
  bool stream_list{false};
  bool keep_spec{false};                 ///< `spec` and `ownerReferences`, also where the kind does without
  std::chrono::seconds watch_time{300};  ///< how long the server is asked to keep a watch; then it is opened again
  std::chrono::nanoseconds silence{std::chrono::seconds{90}};  ///< longest; bookmarks come every minute
  std::chrono::nanoseconds longest_pause{std::chrono::seconds{30}};  ///< most of a Retry-After that is heeded
  logger* log{nullptr};
};

/// Throws std::invalid_argument naming the option that is out of range.
AGONES_ALLOC_DECL void check(kubernetes_watch_options const&);

template <class Object>
struct object_list {
  std::vector<std::shared_ptr<Object const>> objects;
  std::string resource_version;  ///< where a watch goes on from here
};

template <class Object>
struct watched_change {
  watch_event::kind what{watch_event::kind::modified};  ///< added, modified or deleted
  std::shared_ptr<Object const> object;
};

template <class Object>
struct watched_changes {
  std::vector<watched_change<Object>> events;
  std::string resource_version;  ///< where the next watch goes on from
};

namespace detail {
template <class Kind>
class watch_core;
}

/// `Kind` names an object: `object`, a type with a member `meta`; `resource`, an api_resource; `needs_spec`, whether
/// the reader looks at `spec`; and `read(boost::json::value const&) -> decoded<object>`. kubernetes_kinds.hpp has those
/// of this library.
///
/// A list is read in pages of one version; when that version is forgotten half-way (410), it begins again. Or it is
/// streamed, object by object; an API server that refuses that (400, 422) is not asked for it again. A watch is
/// one stream that stays open between the calls of async_watch, and is read only while one of them waits: what is
/// buffered is one event. A stream that ends as agreed is opened again where it ended, bookmarks counted. One that is opened
/// after a failure completes the call without events: the API server is heard again.
///
/// What cannot be decoded is not there: it is left out of a list, and an event about it becomes `deleted`; both are
/// logged. Of a server's refusals the message is logged; with a Retry-After, the failure comes after that pause.
///
/// One call at a time: a second one fails with errc::invalid_request. Errors: too_old (watch only), unavailable (cut,
/// silent, 5xx), too_many_requests, refused, malformed, limit_exceeded (an event over object_bytes), cancelled.
/// Cancellation: terminal; the next watch opens a stream. Destroying the object cancels. Thread safety: all functions
/// from any thread. Client, timer and logger must outlive it and, once it is destroyed, what is pending then.
template <class Kind>
class kubernetes_watch {
 public:
  using object = typename Kind::object;
  using list_handler = boost::asio::any_completion_handler<void(error_code, object_list<object>)>;
  using watch_handler = boost::asio::any_completion_handler<void(error_code, watched_changes<object>)>;

  /// Throws std::invalid_argument for options out of range.
  kubernetes_watch(boost::asio::any_io_executor, http_client&, timer&, kubernetes_watch_options = {});
  ~kubernetes_watch();
  kubernetes_watch(kubernetes_watch const&) = delete;
  auto operator=(kubernetes_watch const&) -> kubernetes_watch& = delete;

  /// Handler signature: void(error_code, object_list<object>).
  template <class Token = boost::asio::deferred_t>
  auto async_list(Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(error_code, object_list<object>)>(
        [this](auto h) { list(list_handler{std::move(h)}); }, token);
  }

  /// Completes with the next events after `resource_version`, one or more, in order.
  /// Handler signature: void(error_code, watched_changes<object>).
  template <class Token = boost::asio::deferred_t>
  auto async_watch(std::string resource_version, Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(error_code, watched_changes<object>)>(
        [this](auto h, std::string from) { watch(std::move(from), watch_handler{std::move(h)}); }, token,
        std::move(resource_version));
  }

  /// The same, erased already.
  void list(list_handler);
  void watch(std::string resource_version, watch_handler);

 private:
  std::shared_ptr<detail::watch_core<Kind>> core_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#include <agones_alloc/impl/beast/kubernetes/kubernetes_watch.hpp>

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/kubernetes/kubernetes_watch.ipp>
#endif
