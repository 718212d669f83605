#pragma once

#include <agones_alloc/beast/call_terms.hpp>
#include <agones_alloc/beast/client/ticket_exchange.hpp>
#include <agones_alloc/beast/remote/remote_answer.hpp>
#include <agones_alloc/json/parse.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string_view.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

/// For a path's segment or a query's value.
inline auto percent_encoded(std::string_view text) -> std::string {
  static constexpr std::string_view hex = "0123456789ABCDEF";
  static constexpr std::string_view plain = "-._~";
  std::string out;
  for (char const c : text) {
    bool const kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || plain.find(c) != plain.npos;
    if (kept) {
      out += c;
    } else {
      auto const byte = static_cast<unsigned char>(c);
      out.append(1, '%').append(1, hex[byte >> 4U]).append(1, hex[byte & 15U]);
    }
  }
  return out;
}

/// Of a request that got no answer at all.
inline auto judge_failure(error_code ec, client_response const& answer) -> ticket_news {
  ticket_news out;
  out.code = answer.status;
  out.message = answer.reason.empty() ? ec.message() : answer.reason;
  if (ec == errc::outcome_unknown) return out;
  // Everything else of a POST means that no byte of it was sent.
  out.answer = ec == errc::invalid_request ? ticket_answer::invalid : ticket_answer::unavailable;
  return out;
}

inline auto answer_of(outcome result) noexcept -> ticket_answer {
  switch (result) {
    case outcome::allocated: return ticket_answer::done;
    case outcome::exhausted: return ticket_answer::exhausted;
    case outcome::contention: return ticket_answer::contention;
    case outcome::invalid: return ticket_answer::invalid;
    case outcome::refused: return ticket_answer::refused;
    case outcome::unavailable: return ticket_answer::unavailable;
    case outcome::unknown:
    case outcome::cancelled:
    case outcome::deadline: break;
  }
  return ticket_answer::unknown;
}

inline auto text_at(boost::json::object const& in, boost::json::string_view name) -> std::string {
  auto const* const found = in.if_contains(name);
  constexpr std::size_t most = 512;
  return found != nullptr && found->is_string() ? std::string{std::string_view{found->get_string()}.substr(0, most)} : std::string{};
}

inline auto claim_status(int status, bool is_ours) noexcept -> ticket_answer {
  switch (status) {
    case 400:
    case 413: return ticket_answer::invalid;
    case 401:
    case 403: return ticket_answer::refused;
    case 404: return is_ours ? ticket_answer::missing : ticket_answer::unavailable;
    case 405:
    case 501: return ticket_answer::refused;
    case 409: return ticket_answer::contention;
    case 429:
    case 503: return ticket_answer::unavailable;
    default: return ticket_answer::unknown;
  }
}

}  // namespace detail

AGONES_ALLOC_DECL auto allocate_exchange(std::string body, std::string_view id, std::chrono::nanoseconds claim_ttl,
                                         std::chrono::nanoseconds wait) -> client_request {
  client_request out;
  out.method = "POST";
  out.target = "/gameserverallocation";
  out.content_type = "application/json";
  out.body = std::move(body);
  out.headers.emplace_back("Accept", "application/json");
  out.headers.emplace_back(request_id_header, std::string{id});
  if (claim_ttl.count() > 0) {
    auto const microseconds = std::max<std::int64_t>(std::chrono::ceil<std::chrono::microseconds>(claim_ttl).count(), 1);
    out.headers.emplace_back(claim_ttl_header, std::to_string(microseconds) + "us");
  }
  if (wait.count() > 0) {
    out.headers.emplace_back("Prefer", "wait=" + std::to_string(std::chrono::ceil<std::chrono::seconds>(wait).count()));
  }
  return out;
}

AGONES_ALLOC_DECL auto claim_exchange(ticket_step what, std::string_view ns, std::string_view id, release_to to) -> client_request {
  client_request out;
  out.method = "POST";
  auto const releases = what == ticket_step::release;
  out.target = "/v1/claims/" + detail::percent_encoded(id) + (releases ? ":release" : ":confirm") +
               "?namespace=" + detail::percent_encoded(ns);
  if (releases) out.target += to == release_to::ready ? "&to=ready" : "&to=shutdown";
  out.headers.emplace_back("Accept", "application/json");
  return out;
}

AGONES_ALLOC_DECL auto judge_allocation(error_code ec, client_response const& answer, shared_string const& ns, feature_gates gates,
                                        std::vector<int> const& exhausted_codes) -> ticket_news {
  if (ec) return detail::judge_failure(ec, answer);
  remote_call call;
  call.namespace_ = ns;
  call.gates = gates;
  auto read = judge_remote_answer(answer, call, exhausted_codes);
  ticket_news out;
  out.answer = detail::answer_of(read.result);
  out.server = std::move(read.server);
  out.code = read.code;
  out.message = read.message.str();
  out.retry_after = read.retry_after;
  return out;
}

AGONES_ALLOC_DECL auto judge_claim(error_code ec, client_response const& answer, shared_string const& ns, std::string_view told)
    -> ticket_news {
  if (ec) return detail::judge_failure(ec, answer);
  ticket_news out;
  out.code = answer.status;
  out.retry_after = answer.retry_after.value_or(std::chrono::seconds{0});
  auto const value = parse_json(answer.body, {.max_bytes = answer.body.size() + 1});
  auto const* const object = value && value->is_object() ? &value->get_object() : nullptr;
  if (answer.status != 200) {
    out.message = object == nullptr ? "HTTP status " + std::to_string(answer.status) : detail::text_at(*object, "message");
    out.answer = detail::claim_status(answer.status, object != nullptr && object->contains("message"));
    return out;
  }
  auto name = object == nullptr ? std::string{} : detail::text_at(*object, "gameServerName");
  if (name.empty()) {
    out.message = "the answer is no claim";
    return out;
  }
  out.answer = told.empty() || told == name ? ticket_answer::done : ticket_answer::other;
  if (auto const* const lines = object->if_contains("notUndone"); lines != nullptr && lines->is_array()) {
    for (auto const& line : lines->get_array()) {
      if (line.is_string()) out.not_undone.emplace_back(line.get_string());
    }
  }
  auto server = std::make_shared<game_server>();
  server->meta.name = name;
  server->meta.namespace_ = ns;
  server->status.state = game_server_state_from(detail::text_at(*object, "state"));
  out.server = std::move(server);
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
