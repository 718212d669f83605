// The stream of one other cluster.
#pragma once

#include <agones_alloc/async/fleet_directory.hpp>
#include <agones_alloc/beast/remote/detail/sse_feed.hpp>
#include <agones_alloc/beast/remote/remote_feed.hpp>
#include <agones_alloc/beast/remote/remote_fleets_options.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/flow/backoff.hpp>
#include <agones_alloc/port/random.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
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
  timer& time;
  random_source& random;
  remote_fleets_options options;
  sse_feeds over_http;
};

/// Puts what it hears into the directory, and tries the next endpoint when it hears nothing more. Confined to the context's strand.
class fleet_upstream final : public remote_feed_listener, public std::enable_shared_from_this<fleet_upstream> {
 public:
  AGONES_ALLOC_DECL fleet_upstream(std::shared_ptr<upstream_context>, upstream_place);
  AGONES_ALLOC_DECL void start();
  AGONES_ALLOC_DECL void stop();
  auto place() const noexcept -> upstream_place const& { return place_; }

  AGONES_ALLOC_DECL void opened() override;
  AGONES_ALLOC_DECL void reset() override;
  AGONES_ALLOC_DECL void synced(std::string token) override;
  AGONES_ALLOC_DECL void changed(fleet_info, std::string const& token) override;
  AGONES_ALLOC_DECL void removed(fleet_info key, std::string const& token) override;
  AGONES_ALLOC_DECL void ended(remote_feed_end) override;

 private:
  /// An endpoint by a protocol.
  struct way {
    std::string endpoint;
    std::string problem;  ///< "": it can be used
    int code{3};          ///< of the problem, gRPC's
    std::shared_ptr<remote_feed> feed;
  };

  void add_way(std::string const& endpoint, remote_feeds* by);
  void connect();
  void keep(std::string const& token);
  void lost(remote_feed_end const&);
  void tell(int code, std::string_view message, bool stale);
  auto current() const -> way const& { return ways_[at_ % ways_.size()]; }

  std::shared_ptr<upstream_context> context_;
  upstream_place place_;
  std::vector<way> ways_;
  std::size_t at_{0};
  backoff retry_;
  std::uint32_t failures_{0};
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
