// What the front ends need of an allocator.
#pragma once

#include <agones_alloc/async/gate_request.hpp>
#include <agones_alloc/beast/call_terms.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/error.hpp>
#include <agones_alloc/model/outcome.hpp>
#include <agones_alloc/port/timer.hpp>
#include <agones_alloc/select/request.hpp>

#include <boost/asio/any_completion_handler.hpp>

#include <cstdint>
#include <memory>
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
    call_terms terms{};        ///< id, waiting, and when the claim must be confirmed
    std::uint32_t hops{0};     ///< how often the request was forwarded before it came here
  };

  virtual ~allocation_backend() = default;
  /// Whether requests with `multiClusterSetting.enabled` are understood; else the front ends refuse them.
  virtual auto has_clusters() const noexcept -> bool { return false; }
  /// Completes once, on the handler's executor; the result says all, the code is not looked at. Cancellation: terminal; before a write it ends as
  /// outcome::cancelled and no server is taken (Q12).
  virtual void allocate(call, handler) = 0;
};

/// What the terms say about the readiness gate; null: nothing.
inline auto gate_of(call_terms const& terms) -> std::shared_ptr<gate_request const> {
  if (terms.gate.empty() && !terms.gate_async) return nullptr;
  return std::make_shared<gate_request const>(gate_request{terms.gate, terms.gate_async, {}});
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
