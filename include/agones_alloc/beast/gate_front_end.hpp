// `/v1/gates`: game servers call back when players can join.
#pragma once

#include <agones_alloc/async/readiness_gate.hpp>
#include <agones_alloc/beast/http_handler.hpp>
#include <agones_alloc/config.hpp>

#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// POST `/v1/gates/TOKEN:ready` or `:failed`, of a game whose gate has the source `webhook`. The token, which the game finds in its
/// annotation keys::gate_token_annotation, is all that is asked for, and good for one call. 204; 404 where no pending
/// server that is known here has it; 400 for any parameter; 405. A body is not read.
///
/// The gate must outlive it. Thread safety: as the listener's.
class gate_front_end final : public http_handler {
 public:
  static constexpr std::string_view prefix = "/v1/gates/";

  explicit gate_front_end(readiness_gate& gate) noexcept : gate_{&gate} {}

  AGONES_ALLOC_DECL void handle(http_request const&, reply) override;

 private:
  readiness_gate* gate_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/gate_front_end.ipp>
#endif
