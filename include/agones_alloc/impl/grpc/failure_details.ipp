#pragma once

#include <agones_alloc/beast/outcome_answer.hpp>
#include <agones_alloc/grpc/failure_details.hpp>

#include <agones_alloc_proto/failure.pb.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail::message {

/// All metadata of an answer share 8 KiB, in base64.
inline constexpr std::size_t most_detail_bytes = 4096;
inline constexpr std::size_t most_text_bytes = 256;

/// Protocol Buffers want UTF-8 in strings, and remote words may be anything; cut off at a character's end.
inline auto bounded_text(std::string_view text) -> std::string {
  std::string out;
  for (char const c : text.substr(0, std::min(text.size(), most_text_bytes))) {
    auto const byte = static_cast<unsigned char>(c);
    out += byte >= 0x80 || byte < 0x20 ? '?' : c;
  }
  return out;
}

template <class Message>
void add_detail(::agones_alloc::failure::Status& to, char const* type, Message const& what) {
  auto& any = *to.add_details();
  any.set_type_url(std::string{"type.googleapis.com/"} + type);
  what.SerializeToString(any.mutable_value());
}

inline auto bad_request(field_errors const& errors) -> ::agones_alloc::failure::BadRequest {
  ::agones_alloc::failure::BadRequest out;
  std::size_t bytes = 0;
  for (auto const& error : errors) {
    auto field = bounded_text(error.field);
    auto body = bounded_text(body_of(error));
    bytes += field.size() + body.size();
    if (bytes > most_detail_bytes / 2) break;
    auto& to = *out.add_field_violations();
    to.set_field(std::move(field));
    to.set_description(std::move(body));
  }
  return out;
}

inline void write_duration(std::chrono::nanoseconds from, google::protobuf::Duration& to) {
  auto const seconds = std::chrono::duration_cast<std::chrono::seconds>(from);
  to.set_seconds(seconds.count());
  to.set_nanos(static_cast<std::int32_t>((from - seconds).count()));
}

inline auto failure_of(allocation_result const& result) -> ::agones_alloc::failure::AllocationFailure {
  ::agones_alloc::failure::AllocationFailure out;
  out.set_outcome(std::string{to_string(result.result)});
  if (result.server && result.result == outcome::unknown) out.set_game_server(bounded_text(to_string(key_of(result.server->meta))));
  out.set_claim(bounded_text(result.claim));
  std::size_t bytes = 0;
  auto const fits = [&bytes](std::size_t more) { return (bytes += more + 16) <= most_detail_bytes / 2; };
  if (result.remaining) {
    for (auto const& selector : result.remaining->selectors) {
      if (!fits(0)) break;
      auto& to = *out.add_selectors();
      for (auto const& clause : selector) {
        auto name = bounded_text(clause.name);
        if (!fits(name.size())) break;
        auto& one = *to.add_clauses();
        one.set_name(std::move(name));
        one.set_remaining(clause.remaining);
      }
    }
  }
  for (auto const& attempt : result.attempts) {
    auto message = bounded_text(attempt.message);
    auto server = bounded_text(to_string(attempt.server));
    if (!fits(message.size() + server.size() + attempt.cluster.size() + attempt.endpoint.size())) break;
    auto& to = *out.add_attempts();
    to.set_cluster(bounded_text(attempt.cluster));
    to.set_endpoint(bounded_text(attempt.endpoint));
    to.set_game_server(std::move(server));
    to.set_outcome(std::string{to_string(attempt.result)});
    to.set_message(std::move(message));
    write_duration(attempt.took, *to.mutable_took());
  }
  return out;
}

}  // namespace detail::message

AGONES_ALLOC_DECL auto failure_details(service_answer const& answer) -> std::string {
  if (answer.code == grpc_code::ok || (answer.errors.empty() && !answer.result)) return {};
  ::agones_alloc::failure::Status out;
  out.set_code(static_cast<int>(answer.code));
  out.set_message(detail::message::bounded_text(answer.message));
  if (!answer.errors.empty()) {
    detail::message::add_detail(out, "google.rpc.BadRequest", detail::message::bad_request(answer.errors));
  }
  if (answer.result) {
    if (auto const seconds = retry_seconds(*answer.result); seconds > 0) {
      ::agones_alloc::failure::RetryInfo retry;
      retry.mutable_retry_delay()->set_seconds(seconds);
      detail::message::add_detail(out, "google.rpc.RetryInfo", retry);
    }
    detail::message::add_detail(out, "agones_alloc.failure.AllocationFailure", detail::message::failure_of(*answer.result));
  }
  return out.SerializeAsString();
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
