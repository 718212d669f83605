// The information service (spec 12.1): `information.InformationService`, on top of the fleet directory.
#pragma once

#include <agones_alloc/async/fleet_directory.hpp>
#include <agones_alloc/beast/fleets/fleets_options.hpp>
#include <agones_alloc/beast/front_end_options.hpp>
#include <agones_alloc/beast/http_handler.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/timer.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {
class fleet_streams;
class inform_gatherer;
}

/// Stands behind a grpc_listener. `Inform` tells what is true now; `Watch` is a stream: the state, SYNCED, then what changes,
/// with a token to go on from; RESET where that is not known any more; HEARTBEAT in silence. A slow reader is told the latest
/// state of each fleet, never more than once. Who says so gets events `together`, in few messages. Bounds and rights as of `/v1/fleets`: too many streams is Unavailable, a namespace
/// where the caller may not allocate PermissionDenied.
///
/// Directory and timer must outlive it, and what it was asked. Thread safety: confined to the listener's executor, which has to
/// be the directory's.
class information_front_end final : public http_handler {
 public:
  static constexpr std::string_view inform_path = "/information.InformationService/Inform";
  static constexpr std::string_view watch_path = "/information.InformationService/Watch";

  /// Throws std::invalid_argument for options out of range.
  AGONES_ALLOC_DECL information_front_end(fleet_directory&, timer&, front_end_options, fleets_options = {});
  AGONES_ALLOC_DECL ~information_front_end() override;
  AGONES_ALLOC_DECL void handle(http_request const&, reply) override;

  AGONES_ALLOC_DECL auto counts() const noexcept -> fleet_stream_counts;

 private:
  AGONES_ALLOC_DECL auto answer(http_request const&) -> http_response;

  fleet_directory* directory_;
  front_end_options options_;
  std::shared_ptr<detail::fleet_streams> streams_;
  std::shared_ptr<detail::inform_gatherer> gatherer_;
};

/// The namespace that a call looks at, "" for all; nullopt: it is none of these. For an access_gate.
AGONES_ALLOC_DECL auto information_namespace_of(http_request const&) -> std::optional<std::string>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/grpc/information_front_end.ipp>
#endif
