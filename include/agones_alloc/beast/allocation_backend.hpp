// What the front ends need of an allocator.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/error.hpp>
#include <agones_alloc/model/outcome.hpp>
#include <agones_alloc/port/timer.hpp>
#include <agones_alloc/select/request.hpp>

#include <boost/asio/any_completion_handler.hpp>

#include <optional>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// `allocator_backend` is the real one.
class allocation_backend {
 public:
  using handler = boost::asio::any_completion_handler<void(error_code, allocation_result)>;

  struct call {
    request_ptr request;
    timer::time_point deadline;
    bool dry_run{false};  ///< decide, but hand out nothing: the server stays as it is (Q19)
  };

  virtual ~allocation_backend() = default;
  /// Completes once, on the handler's executor; the result says all, the code is not looked at. Cancellation: terminal; before a write it ends as
  /// outcome::cancelled and no server is taken (Q12).
  virtual void allocate(call, handler) = 0;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
