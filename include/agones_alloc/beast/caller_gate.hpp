// Refuses early what a caller has too much of under way.
#pragma once

#include <agones_alloc/beast/caller_loads.hpp>
#include <agones_alloc/beast/http_handler.hpp>
#include <agones_alloc/config.hpp>

#include <cstdint>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// How a refusal is told: as an API server does, 429 with a Status; or as the allocator's REST says contention, 409 with code
/// 10, below `/v1/` 429 with `code` and `message`.
enum class refusal_form : std::uint8_t { kubernetes, rest };

/// Stands before a handler, behind what finds out who asks. Requests beyond the caller's bound are answered at once, before
/// anything of them is read, with `Retry-After`; confirmations and releases of claims have some room of their own, as they
/// free what others wait for. Several gates may share their loads.
///
/// Confined to the listener's executor. Handler and loads must outlive it.
class caller_gate final : public http_handler {
 public:
  caller_gate(http_handler& behind, caller_loads& loads, refusal_form form) noexcept
      : behind_{&behind}, loads_{&loads}, form_{form} {}

  AGONES_ALLOC_DECL void handle(http_request const&, reply) override;

 private:
  http_handler* behind_;
  caller_loads* loads_;
  refusal_form form_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/caller_gate.ipp>
#endif
