#pragma once

#include <agones_alloc/beast/remote/detail/sse_feed.hpp>
#include <agones_alloc/beast/remote/endpoint.hpp>
#include <agones_alloc/beast/remote/hop_header.hpp>
#include <agones_alloc/json/fleet_info.hpp>
#include <agones_alloc/json/parse.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/error.hpp>

#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

inline auto feed_client(remote_fleets_options const& from) -> client_options {
  client_options out;
  out.limits.connections = 1;
  out.limits.streams = 1;
  out.limits.queue = 1;
  out.limits.body_bytes = from.event_bytes;
  out.times.queue = out.times.resolve = out.times.connect = out.times.handshake = out.times.credentials = from.connect_time;
  out.times.first_byte = std::chrono::seconds{10};
  out.times.silence = from.silence;
  return out;
}

/// An answer that is no stream.
inline auto refusal_of(int status) -> remote_feed_end {
  auto const said = [status](int code, std::string words, bool soon) {
    return remote_feed_end{code, std::move(words) + " (" + std::to_string(status) + ")", soon, false};
  };
  switch (status) {
    case 200:
    case 404:
    case 405:
    case 406:
    case 501: return said(12, "it has no directory of fleets: an older server, or one with --no-fleet-directory", false);
    case 401: return said(16, "it does not know us", false);
    case 403: return said(7, "it does not let us look", false);
    case 400: return said(3, "it does not understand the question", false);
    case 429:
    case 503: return said(8, "it has no room for another stream", true);
    case 508: return said(9, "the question was forwarded too often: is there a loop?", false);
    default: return said(14, "it answers with an error", true);
  }
}

AGONES_ALLOC_DECL sse_feed::sse_feed(boost::asio::any_io_executor executor, timer& time, client_endpoint endpoint,
                                     std::shared_ptr<secret_credentials> credentials, remote_fleets_options const& options)
    : executor_{executor},
      credentials_{credentials},
      client_{executor, std::move(endpoint), std::move(credentials), time, feed_client(options), options.log},
      event_bytes_{options.event_bytes} {}

// Runs f(*this, arguments...) unless it was closed meanwhile.
template <class F>
auto sse_feed::back(F f) {
  return boost::asio::bind_cancellation_slot(
      pending_.slot(), boost::asio::bind_executor(executor_, [self = shared_from_this(), f](auto&&... arguments) {
        if (!self->closed_) f(*self, std::forward<decltype(arguments)>(arguments)...);
      }));
}

AGONES_ALLOC_DECL void sse_feed::open(std::string token, std::weak_ptr<remote_feed_listener> listener) {
  listener_ = std::move(listener);
  client_request request;
  request.method = "GET";
  request.target = "/v1/fleets?multiCluster=false&include=nodes,annotations";
  request.headers.emplace_back("Accept", "text/event-stream");
  request.headers.emplace_back(hop_header, "1");
  if (!token.empty()) request.headers.emplace_back("Last-Event-ID", std::move(token));
  client_.async_stream(std::move(request), back([](sse_feed& self, error_code ec, std::unique_ptr<response_stream> s) {
                         if (!ec) return self.opened(std::move(s));
                         auto const& credentials = *self.credentials_;
                         bool const none = credentials.version() == 0 && !credentials.problem().empty();
                         self.end({14, none ? credentials.problem() : "it cannot be reached: " + ec.message()});
                       }));
}

AGONES_ALLOC_DECL void sse_feed::close() {
  closed_ = true;
  pending_.emit(boost::asio::cancellation_type::terminal);
  stream_.reset();
  client_.close();
}

inline void sse_feed::opened(std::unique_ptr<response_stream> stream) {
  auto const& head = stream->head();
  if (head.status != 200 || !std::string_view{head.content_type}.starts_with("text/event-stream")) {
    return end(refusal_of(head.status));
  }
  stream_ = std::move(stream);
  reader_.emplace(event_bytes_);
  if (auto const listener = listener_.lock()) listener->opened();
  read();
}

inline void sse_feed::read() {
  if (!stream_) return;
  stream_->async_read_some(back([](sse_feed& self, error_code ec, std::string_view chunk) {
    if (!ec) return self.take(chunk);
    self.end({14, ec == boost::asio::error::eof ? std::string{"the stream has ended"} : "the stream was lost: " + ec.message()});
  }));
}

inline void sse_feed::take(std::string_view chunk) {
  while (auto const event = reader_->next(chunk)) {
    auto const listener = listener_.lock();
    if (!listener || closed_) return;
    if (!take(*event, *listener)) return end({13, "it says what cannot be understood", true, true});
  }
  if (reader_->failed()) return end({8, "it says more at once than may be", true, true});
  read();
}

/// False: it cannot be understood.
inline auto sse_feed::take(server_sent_event const& event, remote_feed_listener& listener) -> bool {
  if (event.what == "RESET") {
    listener.reset();
    return true;
  }
  if (event.what == "SYNCED") {
    listener.synced(event.id);
    return true;
  }
  bool const gone = event.what == "DELETED";
  // Heartbeats, clusters, and what a newer one may say.
  if (!gone && event.what != "SNAPSHOT_ITEM" && event.what != "ADDED" && event.what != "MODIFIED") return true;
  json_parse_options parsing;
  parsing.max_bytes = event.data.size() + 1;
  auto const value = parse_json(event.data, parsing);
  auto const* const object = value ? value->if_object() : nullptr;
  auto const* const inner = object != nullptr ? object->if_contains("fleet") : nullptr;
  if (inner == nullptr) return false;
  auto fleet = read_fleet_info(*inner);
  if (!fleet) return false;
  if (gone) {
    listener.removed(*std::move(fleet), event.id);
  } else {
    listener.changed(*std::move(fleet), event.id);
  }
  return true;
}

inline void sse_feed::end(remote_feed_end why) {
  stream_.reset();
  if (auto const listener = std::exchange(listener_, {}).lock()) listener->ended(std::move(why));
}

AGONES_ALLOC_DECL auto sse_feeds::make(boost::asio::any_io_executor executor, remote_feed_place const& place,
                                       remote_fleets_options const& options)
    -> std::variant<std::shared_ptr<remote_feed>, std::string> {
  auto parsed = parse_endpoint(place.endpoint, options.allow_plaintext);
  if (auto* const problem = std::get_if<std::string>(&parsed)) return std::move(*problem);
  secret_credentials_options how;
  how.time_to_live = options.secret_time_to_live;
  how.retry = options.secret_retry;
  how.counts = options.counts;
  how.log = options.log;
  auto credentials = std::make_shared<secret_credentials>(executor, *time_, secrets_, place.credentials, place.server_name, how);
  return std::make_shared<sse_feed>(executor, *time_, std::get<client_endpoint>(std::move(parsed)), std::move(credentials), options);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
