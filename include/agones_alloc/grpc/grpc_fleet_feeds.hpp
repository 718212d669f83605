// Fleets of other clusters over gRPC: the upstream side of the information service (spec 12.1).
#pragma once

#include <agones_alloc/beast/remote/remote_feed.hpp>
#include <agones_alloc/beast/remote/secret_source.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/timer.hpp>

#include <memory>
#include <string>
#include <variant>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {
class watch_calls;
}

/// For remote_fleets_options::grpc. A feed is one call of `information.InformationService/Watch` on a channel of its own, with
/// `multiCluster` false and metadata `agones-alloc-hops: 1`; a server that has no such service, or an older one without a
/// directory, is `12`. One event is read at a time, so a slow reader holds up the sender and not memory.
///
/// Lifetimes: Secrets and timer must outlive it, and it must outlive its feeds' streams. Thread safety: as the port. Destruction
/// cancels what is open and waits for gRPC's end of it, which takes milliseconds.
class grpc_fleet_feeds final : public remote_feeds {
 public:
  /// `secrets`: null where policies name none.
  AGONES_ALLOC_DECL grpc_fleet_feeds(secret_source* secrets, timer&);
  AGONES_ALLOC_DECL ~grpc_fleet_feeds() override;
  grpc_fleet_feeds(grpc_fleet_feeds const&) = delete;
  auto operator=(grpc_fleet_feeds const&) -> grpc_fleet_feeds& = delete;

  AGONES_ALLOC_DECL auto make(boost::asio::any_io_executor, remote_feed_place const&, remote_fleets_options const&)
      -> std::variant<std::shared_ptr<remote_feed>, std::string> override;

 private:
  secret_source* secrets_;
  timer* time_;
  std::shared_ptr<detail::watch_calls> calls_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/grpc/grpc_fleet_feeds.ipp>
#endif
