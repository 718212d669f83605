// Asks game servers by the standard gRPC health protocol whether players can join.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/port/readiness_probe.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {
class health_calls;

inline constexpr char const* health_path = "/grpc.health.v1.Health/Check";

/// A HealthCheckRequest, and the number of the status of a HealthCheckResponse: 1 SERVING; nullopt: it is none.
AGONES_ALLOC_DECL auto health_request(std::string_view service) -> std::string;
AGONES_ALLOC_DECL auto health_status(std::string_view message) noexcept -> std::optional<std::uint64_t>;
}  // namespace detail

/// `grpc.health.v1.Health/Check` without TLS, over a connection of its own for each try, to no other address than the target's and
/// through no proxy: SERVING is ready, the statuses NotFound and Unimplemented (no such service) failed, all else pending. What
/// else is to be asked it leaves to `others`.
///
/// gRPC's own threads read and write; it completes on the executor. Lifetime: timer and `others` (null: nobody) must outlive it. Destruction ends
/// what is under way as pending, and waits until gRPC is done with it, which takes milliseconds. Thread safety: as its executor's.
class health_probe final : public readiness_probe {
 public:
  AGONES_ALLOC_DECL health_probe(boost::asio::any_io_executor executor, timer&, readiness_probe* others = nullptr);
  AGONES_ALLOC_DECL ~health_probe() override;
  health_probe(health_probe const&) = delete;
  auto operator=(health_probe const&) -> health_probe& = delete;

  auto can(probe_target::protocol how) const noexcept -> bool override {
    return how == probe_target::protocol::grpc || (others_ != nullptr && others_->can(how));
  }

 private:
  AGONES_ALLOC_DECL void do_probe(probe_target, handler) override;

  readiness_probe* others_;
  std::shared_ptr<detail::health_calls> calls_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/grpc/health_probe.ipp>
#endif
