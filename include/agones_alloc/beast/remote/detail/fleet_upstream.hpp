// The stream of one other cluster.
#pragma once

#include <agones_alloc/async/fleet_directory.hpp>
#include <agones_alloc/beast/client/pooled_http_client.hpp>
#include <agones_alloc/beast/fleets/event_reader.hpp>
#include <agones_alloc/beast/remote/remote_fleets_options.hpp>
#include <agones_alloc/beast/remote/secret_credentials.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/flow/backoff.hpp>
#include <agones_alloc/port/random.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Where a cluster is to be heard, and with what.
struct upstream_place {
  std::string cluster;
  std::vector<std::string> endpoints;
  std::string server_name;
  credential_reference credentials;
  friend auto operator==(upstream_place const&, upstream_place const&) -> bool = default;
};

/// What all upstreams work with.
struct upstream_context {
  boost::asio::any_io_executor strand;
  fleet_directory& directory;
  secret_source* secrets;
  timer& time;
  random_source& random;
  remote_fleets_options options;
};

/// Confined to the context's strand.
class fleet_upstream : public std::enable_shared_from_this<fleet_upstream> {
 public:
  AGONES_ALLOC_DECL fleet_upstream(std::shared_ptr<upstream_context>, upstream_place);
  AGONES_ALLOC_DECL void start();
  AGONES_ALLOC_DECL void stop();
  auto place() const noexcept -> upstream_place const& { return place_; }

 private:
  struct way {
    std::string problem;  ///< "": it can be used
    int code{3};          ///< of the problem, gRPC's
    std::shared_ptr<secret_credentials> credentials;
    std::optional<pooled_http_client> client;
  };

  template <class F>
  auto back(F f);
  void connect();
  void opened(std::unique_ptr<response_stream>);
  void read();
  void take(std::string_view chunk);
  auto take(server_sent_event const&) -> bool;
  void lost(int code, std::string message, bool soon);
  void tell(int code, std::string_view message, bool stale);
  auto endpoint() const -> std::string const& { return place_.endpoints[at_ % place_.endpoints.size()]; }
  auto current() -> way& { return *ways_[at_ % ways_.size()]; }

  std::shared_ptr<upstream_context> context_;
  upstream_place place_;
  std::vector<std::unique_ptr<way>> ways_;
  std::size_t at_{0};
  backoff retry_;
  std::uint32_t failures_{0};
  std::unique_ptr<response_stream> stream_;
  std::optional<event_reader> reader_;
  boost::asio::cancellation_signal pending_;
  std::string token_;
  bool ever_synced_{false};
  bool listing_{false};
  bool left_out_{false};
  bool stopped_{false};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/remote/detail/fleet_upstream.ipp>
#endif
