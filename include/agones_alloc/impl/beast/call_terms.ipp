#pragma once

#include <agones_alloc/beast/call_terms.hpp>
#include <agones_alloc/beast/detail/field_words.hpp>
#include <agones_alloc/beast/query_string.hpp>
#include <agones_alloc/flow/gate_settings.hpp>
#include <agones_alloc/select/claim.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

/// Digits; 2^32 and more is as much as there can be.
inline auto parse_seconds(std::string_view text) noexcept -> std::optional<std::chrono::seconds> {
  std::uint32_t out = 0;
  auto const [end, fault] = std::from_chars(text.data(), text.data() + text.size(), out);
  bool const is_more = fault == std::errc::result_out_of_range;
  if (is_more) out = std::numeric_limits<std::uint32_t>::max();
  if (text.empty() || (fault != std::errc{} && !is_more) || end != text.data() + text.size()) return std::nullopt;
  return std::chrono::seconds{out};
}

inline auto without_blanks(std::string_view text) noexcept -> std::string_view {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// The value of a preference, "" when it has none; nullopt where it is not there. Others are not ours.
inline auto preference(std::string_view field, std::string_view wanted) noexcept -> std::optional<std::string_view> {
  while (!field.empty()) {
    auto const end = std::min(field.find(','), field.size());
    auto one = without_blanks(field.substr(0, end));
    field.remove_prefix(end == field.size() ? end : end + 1);
    one = without_blanks(one.substr(0, one.find(';')));  // its parameters, of which none is known
    auto const equals = one.find('=');
    auto const name = without_blanks(one.substr(0, equals));
    auto const same = [](char a, char b) { return a == b || (a | 0x20) == b; };
    if (name.size() != wanted.size() || !std::equal(name.begin(), name.end(), wanted.begin(), same)) continue;
    if (equals == std::string_view::npos) return std::string_view{};
    auto value = without_blanks(one.substr(equals + 1));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    return value;
  }
  return std::nullopt;
}

/// The name of a field of ours that is there and says nothing; "" where there is none.
inline auto empty_field(http_request const& request) -> std::string_view {
  static constexpr std::array<std::string_view, 4> ours{request_id_header, claim_ttl_header, gate_header, action_mode_header};
  std::string_view out;
  request.visit_headers([&out](std::string_view name, std::string_view value) {
    if (!value.empty()) return;
    for (auto const one : ours) {
      if (same_word(name, one)) out = one;
    }
  });
  return out;
}

}  // namespace detail

AGONES_ALLOC_DECL auto read_call_terms(http_request const& request, string_map const& annotations, front_end_options const& options)
    -> std::variant<call_terms, std::string> {
  call_terms out;
  // Taken for none it would give an allocation that its caller cannot repeat, or one that nobody ends.
  if (auto const name = detail::empty_field(request); !name.empty()) return std::string{name} + ": must not be empty";
  for (auto const key : {keys::request_id_annotation, claim_ttl_annotation}) {
    if (annotations.contains(key) && annotations.value_or_empty(key).empty()) return "metadata.annotations[" + std::string{key} + "]: must not be empty";
  }
  auto const field_or_annotation = [&](std::string_view field, std::string_view annotation) {
    auto text = request.header(field);
    return text.empty() ? std::string{annotations.value_or_empty(annotation)} : text;
  };
  out.request_id = field_or_annotation(request_id_header, keys::request_id_annotation);
  if (!out.request_id.empty()) {
    if (auto const problem = request_id_problem(out.request_id); !problem.empty()) return std::string{request_id_header} + ": " + problem;
  }
  auto const preferences = request.header("Prefer");
  if (auto const wait = detail::preference(preferences, "wait")) {
    auto const seconds = detail::parse_seconds(*wait);
    if (!seconds) return "Prefer: wait: a number of seconds is wanted";
    out.wait_for = std::min<std::chrono::nanoseconds>(*seconds, options.longest_wait);
    out.wait_is_said = true;
  }
  out.gate_async = detail::preference(preferences, "respond-async").has_value();
  out.gate = field_or_annotation(gate_header, keys::gate_annotation);
  if (!out.gate.empty()) {
    gate_settings ignored;
    field_errors problems;
    change_gate(ignored, out.gate, gate_header, problems);
    if (!problems.empty()) return to_string(problems);
  }
  if (auto const text = field_or_annotation(claim_ttl_header, claim_ttl_annotation); !text.empty()) {
    std::optional<std::chrono::nanoseconds> time = detail::parse_seconds(text);
    if (!time) time = parse_go_duration(text);
    if (!time || time->count() <= 0 || *time > std::chrono::hours{24 * 365}) return std::string{claim_ttl_header} + ": a positive duration such as 30s is wanted, a year at most";
    out.claim_ttl = time;
  }
  return out;
}

AGONES_ALLOC_DECL auto read_action_mode(http_request const& request, string_map const& annotations, front_end_options const& options)
    -> std::variant<bool, std::string> {
  auto word = request.header(action_mode_header);
  if (word.empty()) word = annotations.value_or_empty(action_mode_annotation);
  if (word.empty()) return options.choice.exact;
  if (word != "exact" && word != "clamp") return std::string{action_mode_header} + ": exact or clamp is wanted";
  return word == "exact";
}

AGONES_ALLOC_DECL void add_claim_fields(http_response& response, allocation_result const& result, std::chrono::nanoseconds waited_for) {
  if (!result.claim.empty()) response.headers.emplace_back(claim_header, result.claim.str());
  if (result.repeated) response.headers.emplace_back(repeated_header, "true");
  if (waited_for.count() > 0) {
    auto const seconds = std::chrono::ceil<std::chrono::seconds>(waited_for).count();
    response.headers.emplace_back("Preference-Applied", "wait=" + std::to_string(seconds));
  }
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
