// The real clock and real waits.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Waits on steady timers of its executor; handlers complete there, or on their associated executor.
/// Thread safety: as the port says. May be destroyed while waits are pending: they go on.
class asio_timer final : public timer {
 public:
  explicit asio_timer(boost::asio::any_io_executor executor) noexcept : executor_{std::move(executor)} {}
  AGONES_ALLOC_DECL auto now() const noexcept -> time_point override;
  AGONES_ALLOC_DECL auto wall_now() const noexcept -> wall_time override;

 private:
  AGONES_ALLOC_DECL void do_wait_until(time_point, handler) override;

  boost::asio::any_io_executor executor_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/async/asio_timer.ipp>
#endif
