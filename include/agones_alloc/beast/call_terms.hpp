// What a client may ask of an allocation besides its body: an id, a time to wait, a time to confirm within.
#pragma once

#include <agones_alloc/beast/front_end_options.hpp>
#include <agones_alloc/beast/http_message.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/model/outcome.hpp>
#include <agones_alloc/model/string_map.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

inline constexpr std::string_view request_id_header = "Idempotency-Key";
inline constexpr std::string_view claim_ttl_header = "Agones-Alloc-Claim-TTL";
/// Of an answer: the id of its claim, given or drawn.
inline constexpr std::string_view claim_header = "Agones-Alloc-Claim";
/// Of an answer: `true` when an earlier request with this id got the game server.
inline constexpr std::string_view repeated_header = "Agones-Alloc-Repeated";
/// Of a GameServerAllocation: the same as the field of that name, which goes before it.
inline constexpr std::string_view claim_ttl_annotation = "agones-alloc.dev/claim-ttl";

/// Settings of the readiness gate for this request, as change_gate reads them; the annotation keys::gate_annotation says the same.
inline constexpr std::string_view gate_header = "Agones-Alloc-Gate";

/// `clamp`: counter and list actions that do not fit are cut off. `exact`: only a server on which they fit as a whole is taken.
inline constexpr std::string_view action_mode_header = "Agones-Alloc-Action-Mode";
/// Of a GameServerAllocation: the same.
inline constexpr std::string_view action_mode_annotation = "agones-alloc.dev/action-mode";

struct call_terms {
  std::string request_id;                ///< `Idempotency-Key`, or the annotation keys::request_id_annotation; "": none
  std::chrono::nanoseconds wait_for{0};  ///< `Prefer: wait=SECONDS` (RFC 7240), at most front_end_options::longest_wait
  std::optional<std::chrono::nanoseconds> claim_ttl;  ///< a Go duration, or seconds
  std::string gate{};      ///< `Agones-Alloc-Gate`, or the annotation; "": none
  bool gate_async{false};  ///< `Prefer: respond-async` (RFC 7240): answer 202 while the server is pending
  bool wait_is_said{false};  ///< `wait` stands there, be it 0
};

/// The terms, or a sentence with the field that cannot be read.
AGONES_ALLOC_DECL auto read_call_terms(http_request const&, string_map const& annotations, front_end_options const&)
    -> std::variant<call_terms, std::string>;

/// choice_options::exact as the field says, or else the annotation, or else front_end_options::choice; or a sentence.
AGONES_ALLOC_DECL auto read_action_mode(http_request const&, string_map const& annotations, front_end_options const&)
    -> std::variant<bool, std::string>;

/// Adds `Agones-Alloc-Claim`, `Agones-Alloc-Repeated`, and, where the client asked to wait, `Preference-Applied`.
AGONES_ALLOC_DECL void add_claim_fields(http_response&, allocation_result const&, std::chrono::nanoseconds waited_for);

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/call_terms.ipp>
#endif
