// Each endpoint by the protocol that it speaks.
#pragma once

#include <agones_alloc/beast/remote/connected_remote.hpp>
#include <agones_alloc/beast/remote/endpoint.hpp>
#include <agones_alloc/config.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <string>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Hands calls and probes to one of two, as protocol_of says, or to a third where that is to be found out. Without one for gRPC (a program that does not link it) an endpoint
/// that wants it is `unavailable`, with words that name it: nothing was executed.
///
/// They must outlive it and what is outstanding. Thread safety: any thread.
class remote_by_protocol final : public connected_remote {
 public:
  /// `grpc`: null for none, and then `missing` says why. `otherwise`: of endpoints that do not say; for `by_trying` they go to
  /// `tried`, a remote_by_trying over the other two.
  remote_by_protocol(boost::asio::any_io_executor executor, connected_remote& rest, connected_remote* grpc,
                     remote_protocol otherwise, std::string missing = "gRPC is not available", connected_remote* tried = nullptr)
      : executor_{std::move(executor)}, rest_{&rest}, grpc_{grpc}, tried_{tried}, otherwise_{otherwise}, missing_{std::move(missing)} {}

  auto can_probe() const noexcept -> bool override { return rest_->can_probe() && (grpc_ == nullptr || grpc_->can_probe()); }
  AGONES_ALLOC_DECL void close() override;

 private:
  AGONES_ALLOC_DECL void do_allocate(remote_call, handler) override;
  AGONES_ALLOC_DECL void do_probe(remote_call, probe_handler) override;
  AGONES_ALLOC_DECL void tell_endpoints(endpoints_handler) override;
  /// Null: there is none.
  AGONES_ALLOC_DECL auto of(remote_call const&) const noexcept -> connected_remote*;
  AGONES_ALLOC_DECL auto problem(remote_call const&) const -> std::string;

  boost::asio::any_io_executor executor_;
  connected_remote* rest_;
  connected_remote* grpc_;
  connected_remote* tried_;
  remote_protocol otherwise_;
  std::string missing_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/remote/remote_by_protocol.ipp>
#endif
