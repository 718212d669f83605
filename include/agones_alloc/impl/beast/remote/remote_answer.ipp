#pragma once

#include <agones_alloc/beast/remote/detail/remote_words.hpp>
#include <agones_alloc/beast/remote/remote_answer.hpp>
#include <agones_alloc/json/grpc_code.hpp>
#include <agones_alloc/json/parse.hpp>
#include <agones_alloc/json/rest.hpp>

#include <boost/json/monotonic_resource.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline auto judge_success(client_response const& answer, remote_call const& call) -> remote_result {
  remote_result out;
  out.code = answer.status;
  out.result = outcome::unknown;
  unsigned char memory[12 * 1024];  // most answers take less
  boost::json::monotonic_resource resource{memory, sizeof memory};
  json_parse_options parsing;
  parsing.max_bytes = answer.body.size() + 1;
  auto const value = parse_json(answer.body, parsing, &resource);
  // Agones writes every field, also of an empty response: without it this is somebody else's answer.
  if (!value || !value->is_object() || !value->get_object().contains("gameServerName")) {
    out.message = "the answer is no AllocationResponse";
    return out;
  }
  auto read = rest_response_to_allocation(*value, call.endpoint.view(), call.gates);
  if (!read) {
    out.message = "the answer cannot be read: " + to_string(read.error());
    return out;
  }
  out.result = read->status.game_server_name.empty() ? outcome::exhausted : outcome::allocated;
  if (out.result == outcome::allocated) out.server = server_of(std::move(read->status), call.namespace_);
  return out;
}

/// The gateway's error body; nullopt for anything else.
inline auto grpc_error_of(client_response const& answer) -> std::optional<grpc_status> {
  constexpr std::size_t most_bytes = 64U * 1024U;
  if (answer.body.size() > most_bytes) return std::nullopt;
  auto const value = parse_json(answer.body);
  if (!value || !value->is_object() || !value->get_object().contains("code")) return std::nullopt;
  auto read = read_grpc_error(*value);
  if (!read) return std::nullopt;
  return *std::move(read);
}

inline auto meaning_of(int status, std::optional<grpc_status> const& error, bool retry_after) -> outcome {
  auto const code = error ? error->code : grpc_code::unknown;
  switch (status) {
    case 400:
    case 413:
    case 422: return outcome::invalid;
    case 401:
    case 403: return outcome::refused;
    case 404:
    case 405:
    case 501:
    case 508: return outcome::unavailable;
    case 409: return code == grpc_code::aborted ? outcome::contention : outcome::unknown;
    case 429: return code == grpc_code::resource_exhausted ? outcome::exhausted : outcome::unavailable;
    case 500: return static_cast<int>(code) == 422 ? outcome::invalid : outcome::unknown;
    case 503: return code == grpc_code::unavailable || retry_after ? outcome::unavailable : outcome::unknown;
    default: return outcome::unknown;
  }
}

}  // namespace detail

AGONES_ALLOC_DECL auto judge_remote_answer(client_response const& answer, remote_call const& call,
                                           std::vector<int> const& exhausted_codes) -> remote_result {
  if (answer.status == 200) return detail::judge_success(answer, call);
  remote_result out;
  out.code = answer.status;
  if (answer.status == 202) {
    out.result = outcome::unknown;
    out.message = "it has a game server that is not ready yet, and did not wait for it";
    return out;
  }
  auto const error = detail::grpc_error_of(answer);
  constexpr std::size_t most_text = 512;
  if (error) {
    out.message = std::string_view{error->message}.substr(0, most_text);
  } else {
    out.message = "HTTP status " + std::to_string(answer.status);
  }
  bool const listed = std::find(exhausted_codes.begin(), exhausted_codes.end(), answer.status) != exhausted_codes.end();
  if (listed || (error && error->message == detail::unallocated_text)) {
    out.result = outcome::exhausted;
    return out;
  }
  out.result = detail::meaning_of(answer.status, error, answer.retry_after.has_value());
  if (out.result == outcome::invalid) out.errors = detail::refused_there(out.message.view());
  // It has seen the request often enough; so have its siblings.
  out.whole_cluster = answer.status == 508;
  out.retry_after = answer.retry_after.value_or(std::chrono::seconds{0});
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
