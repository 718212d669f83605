#pragma once

#include <agones_alloc/beast/remote/detail/remote_words.hpp>
#include <agones_alloc/grpc/grpc_answer.hpp>
#include <agones_alloc/grpc/messages.hpp>
#include <agones_alloc/json/grpc_code.hpp>

#include <agones_alloc_proto/allocation.pb.h>
#include <agones_alloc_proto/failure.pb.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

template <class Message>
auto read_answer(std::string_view bytes, Message& out) -> bool {
  return bytes.size() <= static_cast<std::size_t>(std::numeric_limits<int>::max()) &&
         out.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

inline auto judge_message(grpc_answer const& answer, remote_call const& call) -> remote_result {
  remote_result out;
  out.code = 200;
  out.result = outcome::unknown;
  if (!answer.answered) {
    out.message = "OK without a message";
    return out;
  }
  if (answer.body.empty()) {
    out.result = outcome::exhausted;  // as Agones says it with http-unallocated-status-code 200
    return out;
  }
  ::allocation::AllocationResponse message;
  if (!read_answer(answer.body, message) || message.gameservername().empty()) {
    out.message = "the answer is no AllocationResponse";
    return out;
  }
  auto read = message_to_allocation(message, call.endpoint.view(), call.gates);
  out.result = outcome::allocated;
  out.server = server_of(std::move(read.status), call.namespace_);
  return out;
}

/// What the details say of when to come again, and of the outcome.
struct told_details {
  std::optional<std::chrono::nanoseconds> retry;
  std::string outcome;
};

inline auto read_details(std::string const& bytes) -> told_details {
  constexpr std::size_t most_bytes = 64U * 1024U;
  constexpr std::int64_t most_seconds = 3600;
  told_details out;
  ::agones_alloc::failure::Status status;
  if (bytes.empty() || bytes.size() > most_bytes || !read_answer(bytes, status)) return out;
  for (auto const& any : status.details()) {
    auto const type = std::string_view{any.type_url()}.substr(any.type_url().rfind('/') + 1);
    if (type == "google.rpc.RetryInfo") {
      ::agones_alloc::failure::RetryInfo retry;
      if (!read_answer(any.value(), retry)) continue;
      auto const& delay = retry.retry_delay();
      out.retry = std::chrono::seconds{std::clamp<std::int64_t>(delay.seconds(), 0, most_seconds)} +
                  std::chrono::nanoseconds{std::clamp(delay.nanos(), 0, 999'999'999)};
    } else if (type == "agones_alloc.failure.AllocationFailure") {
      ::agones_alloc::failure::AllocationFailure failure;
      if (read_answer(any.value(), failure)) out.outcome = failure.outcome();
    }
  }
  return out;
}

inline auto read_seconds(std::string_view text) -> std::optional<std::chrono::nanoseconds> {
  std::uint32_t seconds = 0;
  auto const* const end = text.data() + text.size();
  auto const [stopped, fault] = std::from_chars(text.data(), end, seconds);
  if (text.empty() || fault != std::errc{} || stopped != end) return std::nullopt;
  return std::chrono::seconds{std::min<std::uint32_t>(seconds, 3600)};
}

/// In gRPC's own words: there was no connection, and the call never left this process, or its stream was refused, which
/// HTTP/2 has for what was not looked at. Where a gRPC has other words for it the call is of unknown fate, which costs a try but
/// never a server.
inline auto never_begun(std::string_view message) noexcept -> bool {
  return message.starts_with("failed to connect to all addresses") || message.starts_with("DNS resolution failed") ||
         message == "Received RST_STREAM with error code 7";
}

inline auto meaning_of_code(grpc_answer const& answer, bool told_not_executed) -> outcome {
  if (answer.code == 422) return outcome::invalid;
  if (answer.code < 0 || answer.code > 16) return outcome::unknown;
  switch (static_cast<grpc_code>(answer.code)) {
    case grpc_code::invalid_argument:
    case grpc_code::out_of_range: return outcome::invalid;
    case grpc_code::permission_denied:
    case grpc_code::unauthenticated: return outcome::refused;
    case grpc_code::not_found:
    case grpc_code::failed_precondition:
    case grpc_code::unimplemented: return outcome::unavailable;
    case grpc_code::aborted: return outcome::contention;
    case grpc_code::unavailable:
      return told_not_executed || never_begun(answer.message) ? outcome::unavailable : outcome::unknown;
    case grpc_code::resource_exhausted: return told_not_executed ? outcome::unavailable : outcome::unknown;
    case grpc_code::ok:
    case grpc_code::cancelled:
    case grpc_code::unknown:
    case grpc_code::deadline_exceeded:
    case grpc_code::already_exists:
    case grpc_code::internal:
    case grpc_code::data_loss: break;
  }
  return outcome::unknown;
}

}  // namespace detail

AGONES_ALLOC_DECL auto judge_grpc_answer(grpc_answer const& answer, remote_call const& call,
                                         std::vector<int> const& exhausted_codes) -> remote_result {
  if (answer.code == 0) return detail::judge_message(answer, call);
  constexpr std::size_t most_text = 512;
  auto const code = static_cast<grpc_code>(answer.code);
  remote_result out;
  out.code = answer.code == 422 ? 422 : http_status_of(code);
  out.message = answer.message.empty() ? shared_string{to_string(code)}
                                       : shared_string{std::string_view{answer.message}.substr(0, most_text)};
  // gRPC's own words for answers that may name a server.
  if (answer.message.find("message larger than max") != std::string::npos ||
      answer.message.find("No message returned") != std::string::npos) {
    out.result = outcome::unknown;
    return out;
  }
  bool const listed = std::find(exhausted_codes.begin(), exhausted_codes.end(), out.code) != exhausted_codes.end();
  bool const lost = code == grpc_code::cancelled || code == grpc_code::deadline_exceeded || code == grpc_code::unavailable;
  if (answer.message == detail::unallocated_text || (listed && !lost)) {
    out.result = outcome::exhausted;
    return out;
  }
  auto const details = detail::read_details(answer.details);
  auto retry = detail::read_seconds(answer.retry_after);
  if (!retry) retry = details.retry;
  out.result = detail::meaning_of_code(answer, retry.has_value() || details.outcome == "unavailable");
  // Its store's word, for which there is no code.
  if (code == grpc_code::unknown && details.outcome == "refused") out.result = outcome::refused;
  if (out.result == outcome::invalid) out.errors = detail::refused_there(out.message.view());
  // It has seen the request often enough; so have its siblings.
  out.whole_cluster = code == grpc_code::failed_precondition;
  out.retry_after = retry.value_or(std::chrono::seconds{0});
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
