#pragma once

#include <agones_alloc/beast/breakdown_header.hpp>
#include <agones_alloc/beast/outcome_answer.hpp>
#include <agones_alloc/beast/kubernetes/api_path.hpp>
#include <agones_alloc/flow/attempts_text.hpp>
#include <agones_alloc/flow/pending.hpp>
#include <agones_alloc/select/apply.hpp>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <chrono>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL auto failure_status(allocation_result const& result) noexcept -> int {
  switch (result.result) {
    case outcome::allocated:
    case outcome::exhausted:
    case outcome::contention: return 201;
    case outcome::invalid: return 422;
    case outcome::refused: return result.server_code >= 400 && result.server_code < 600 ? result.server_code : 403;
    case outcome::unavailable: return 503;
    case outcome::unknown: return 504;
    case outcome::cancelled: return 499;
    case outcome::deadline: return 504;
  }
  return 500;
}

AGONES_ALLOC_DECL auto failure_message(allocation_result const& result) -> std::string {
  auto const with_words = [&result](std::string text) {
    return result.server_message.empty() ? text : text + ": " + result.server_message.str();
  };
  switch (result.result) {
    case outcome::allocated: return "allocated";
    case outcome::exhausted: return "there is no available GameServer to allocate";
    case outcome::contention: return "too many concurrent requests have overwhelmed the system";
    case outcome::invalid: return to_string(result.errors);
    case outcome::refused:
      return result.server_message.empty() ? "the store refused the write to the game server" : result.server_message.str();
    case outcome::unavailable:
      if (result.multi_cluster) return result.server_message.str();
      return with_words("the game servers' store cannot be reached; nothing was written");
    case outcome::unknown:
      if (result.multi_cluster && !result.server) {
        return with_words("a request was sent to another cluster and its fate is not known");
      }
      return with_words("a write was sent and its fate is not known" +
                        (result.server ? "; game server " + to_string(key_of(result.server->meta)) : std::string{}));
    case outcome::cancelled:
      // It was not the client then.
      if (!result.multi_cluster && !result.server_message.empty()) return result.server_message.str();
      return with_words("the client left before a game server was allocated");
    case outcome::deadline: return with_words("the request's time was up before a game server was allocated");
  }
  return "unknown issue";
}

AGONES_ALLOC_DECL auto is_pending_answer(allocation_result const& result) noexcept -> bool {
  return result.result == outcome::allocated && result.server != nullptr && has_pending(*result.server);
}

AGONES_ALLOC_DECL auto pending_answer(allocation_result const& result) -> http_response {
  auto const& meta = result.server->meta;
  auto const id = result.claim.view();
  boost::json::object body{{"kind", "Status"},
                           {"apiVersion", "v1"},
                           {"metadata", boost::json::object{}},
                           {"status", "Success"},
                           {"reason", "Pending"},
                           {"message", "the game server is claimed, and is not ready for players yet"},
                           {"code", 202},
                           {"id", id},
                           {"namespace", meta.namespace_.view()},
                           {"gameServerName", meta.name.view()}};
  if (auto const marker = find_pending(*result.server)) body["deadline"] = rfc3339_nano(marker->deadline);
  auto out = json_response(202, boost::json::serialize(body));
  out.headers.emplace_back("Location", "/v1/claims/" + percent_encoded(id) + "?namespace=" + percent_encoded(meta.namespace_.view()));
  out.headers.emplace_back("Preference-Applied", "respond-async");
  return out;
}

AGONES_ALLOC_DECL auto retry_seconds(allocation_result const& result) noexcept -> long {
  if (result.result != outcome::contention && result.result != outcome::unavailable) return 0;
  if (result.retry_after <= std::chrono::nanoseconds{0}) return result.result == outcome::unavailable ? 1 : 0;
  return static_cast<long>(std::chrono::ceil<std::chrono::seconds>(result.retry_after).count());
}

namespace detail {

inline auto action_errors(allocation_result const& result) -> std::string {
  std::string out;
  for (auto const* list : {&result.counter_errors, &result.list_errors}) {
    for (auto const& error : *list) out.append(out.empty() ? "" : "; ").append(error);
  }
  return out;
}

}  // namespace detail

AGONES_ALLOC_DECL void add_outcome_fields(http_response& response, allocation_result const& result) {
  if (result.result == outcome::exhausted && result.remaining) {
    response.headers.emplace_back(breakdown_field, breakdown_text(*result.remaining));
  }
  // Whoever got the first choice has nothing to learn from it.
  bool const told = result.multi_cluster && std::any_of(result.attempts.begin(), result.attempts.end(), [](attempt const& one) {
    return one.result != outcome::allocated;
  });
  if (told) response.headers.emplace_back(attempts_field, field_text(attempts_text(result.attempts)));
  if (auto const errors = detail::action_errors(result); !errors.empty()) {
    response.headers.emplace_back(action_errors_field, field_text(errors));
  }
  if (auto const seconds = retry_seconds(result); seconds > 0) {
    response.headers.emplace_back("Retry-After", std::to_string(seconds));
  }
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
