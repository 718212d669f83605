// A feed of fleets over HTTP: server-sent events of /v1/fleets.
#pragma once

#include <agones_alloc/beast/client/pooled_http_client.hpp>
#include <agones_alloc/beast/fleets/event_reader.hpp>
#include <agones_alloc/beast/remote/remote_feed.hpp>
#include <agones_alloc/beast/remote/remote_fleets_options.hpp>
#include <agones_alloc/beast/remote/secret_credentials.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

class sse_feed final : public remote_feed, public std::enable_shared_from_this<sse_feed> {
 public:
  AGONES_ALLOC_DECL sse_feed(boost::asio::any_io_executor, timer&, client_endpoint, std::shared_ptr<secret_credentials>,
                             remote_fleets_options const&);
  AGONES_ALLOC_DECL void open(std::string token, std::weak_ptr<remote_feed_listener>) override;
  AGONES_ALLOC_DECL void close() override;

 private:
  template <class F>
  auto back(F f);
  void opened(std::unique_ptr<response_stream>);
  void read();
  void take(std::string_view chunk);
  auto take(server_sent_event const&, remote_feed_listener&) -> bool;
  void end(remote_feed_end);

  boost::asio::any_io_executor executor_;
  std::shared_ptr<secret_credentials> credentials_;
  pooled_http_client client_;
  std::size_t event_bytes_;
  std::weak_ptr<remote_feed_listener> listener_;
  std::unique_ptr<response_stream> stream_;
  std::optional<event_reader> reader_;
  boost::asio::cancellation_signal pending_;
  bool closed_{false};
};

/// Makes them.
class sse_feeds final : public remote_feeds {
 public:
  sse_feeds(secret_source* secrets, timer& time) : secrets_{secrets}, time_{&time} {}
  AGONES_ALLOC_DECL auto make(boost::asio::any_io_executor, remote_feed_place const&, remote_fleets_options const&)
      -> std::variant<std::shared_ptr<remote_feed>, std::string> override;

 private:
  secret_source* secrets_;
  timer* time_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/remote/detail/sse_feed.ipp>
#endif
