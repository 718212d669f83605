// How a game server shows that players can join, and what becomes of one that does not: the settings of a readiness gate.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/field_error.hpp>
#include <agones_alloc/model/game_server.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace keys {
/// Of a GameServerAllocation, and of a fleet's template: the settings of the gate, as text.
inline constexpr std::string_view gate_annotation = "agones-alloc.dev/gate";
/// What a game sets, by SetAnnotation or SetLabel of `session-ready`, when players can join; settings may name another.
inline constexpr std::string_view sdk_session_ready = "agones.dev/sdk-session-ready";
}  // namespace keys

/// Where the readiness is read.
enum class gate_source : std::uint8_t {
  watch,    ///< a label or annotation that the game sets: no traffic of its own
  counter,  ///< a counter of the game server that has come to a value
  http,     ///< GET of the server's own address and port: 200 ready, 4xx failed, anything else not yet
  tcp,      ///< the server's own port accepts a connection
  webhook,  ///< the game calls back, with a token of one use
  sse,      ///< a stream of server-sent events from the server's own port: `ready` or `failed`
  grpc,     ///< the standard health service at the server's own port: SERVING ready; where it is built in
};

/// The state of a server while it is pending (spec 12.2, options A, B, C).
enum class gate_carrier : std::uint8_t {
  reserved,    ///< A: protected, and no allocator's candidate
  allocated,   ///< B: at once, with a marker label
  allocating,  ///< C: needs a CRD with that state; a stock one refuses it
};

/// What becomes of a server whose time is up, or that says that it failed.
enum class gate_policy : std::uint8_t { shutdown, return_to_ready, mark_unhealthy };

AGONES_ALLOC_DECL auto to_string(gate_source) noexcept -> std::string_view;
AGONES_ALLOC_DECL auto to_string(gate_carrier) noexcept -> std::string_view;
AGONES_ALLOC_DECL auto to_string(gate_policy) noexcept -> std::string_view;

/// Defaults: as spec 12.2, but off.
struct gate_settings {
  bool enabled{false};
  gate_source source{gate_source::watch};
  gate_carrier carrier{gate_carrier::reserved};
  gate_policy on_timeout{gate_policy::shutdown};
  std::chrono::nanoseconds timeout{std::chrono::seconds{30}};  ///< from the first write on, in all
  shared_string key{keys::sdk_session_ready};  ///< watch: of a label or annotation; counter: its name
  std::int64_t at_least{1};                    ///< counter: ready from this count on
  // Of the sources that ask: http, tcp, grpc, sse.
  shared_string port;       ///< the name of a port of the server's status; "": the first
  shared_string path{"/"};  ///< http, sse; grpc: what follows the `/` is the service's name, "" for the server as a whole
  std::chrono::nanoseconds period{std::chrono::seconds{1}};  ///< between the beginnings of two tries; sse: before it is opened again, more each time
  std::chrono::nanoseconds try_timeout{std::chrono::seconds{1}};  ///< of one try; sse: until the stream is open
  std::chrono::nanoseconds initial_delay{0};                      ///< before the first try
  std::uint32_t successes{1};  ///< so many in a row make it ready; sse: one
  std::uint32_t failures{3};   ///< http, grpc: so many refusals in a row make it failed; one never does by itself. sse: one
  std::uint32_t servers{3};    ///< so many are tried, one after the other, within the caller's time
  friend auto operator==(gate_settings const&, gate_settings const&) -> bool = default;
};

/// Changes `settings` by what the text says: parts `name=value` joined by `;`, and of bare words `on`, `off`, or a source, which
/// switches on as well. Names: source, carrier, on-timeout, timeout, key, at-least, port, path, period, try-timeout, initial-delay,
/// successes, failures, servers. E.g. `http; port=game; path=/ready; timeout=20s`. What cannot be read, or does not go together, is
/// added to `errors` with its path, `<field>.timeout` and so on; a part that cannot be read changes nothing.
AGONES_ALLOC_DECL void change_gate(gate_settings& settings, std::string_view text, std::string_view field, field_errors& errors);

/// The text that change_gate makes the same settings of, from any.
AGONES_ALLOC_DECL auto to_text(gate_settings const&) -> std::string;

/// The settings for one allocation on this server: of the request, else of its fleet's template (the server's annotation), else
/// `otherwise`; part by part. What the template says and cannot be read is added to `template_errors`.
AGONES_ALLOC_DECL auto choose_gate(gate_settings const& otherwise, game_server const&, std::string_view request_text,
                                   field_errors& template_errors) -> gate_settings;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/flow/gate_settings.ipp>
#endif
