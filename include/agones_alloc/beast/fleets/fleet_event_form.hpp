// How events about fleets are written.
#pragma once

#include <agones_alloc/beast/fleets/fleet_texts.hpp>
#include <agones_alloc/cache/fleet_event.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/json/fleet_info.hpp>
#include <agones_alloc/port/timer.hpp>

#include <string>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Thread safety: none.
class fleet_event_form {
 public:
  virtual ~fleet_event_form() = default;
  /// What a stream begins with; "": nothing.
  virtual auto beginning() -> std::string = 0;
  /// `token`: one who has heard it goes on from there; "" before the state is complete.
  virtual void append(std::string& out, fleet_event const&, std::string const& token, fleet_info_parts) = 0;
  virtual void append_heartbeat(std::string& out, timer::wall_time now) = 0;
};

/// Server-sent events, with JSON for their data.
class server_sent_form final : public fleet_event_form {
 public:
  AGONES_ALLOC_DECL auto beginning() -> std::string override;
  AGONES_ALLOC_DECL void append(std::string& out, fleet_event const&, std::string const& token, fleet_info_parts) override;
  AGONES_ALLOC_DECL void append_heartbeat(std::string& out, timer::wall_time now) override;
  auto texts() noexcept -> fleet_texts& { return texts_; }

 private:
  fleet_texts texts_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/fleets/fleet_event_form.ipp>
#endif
