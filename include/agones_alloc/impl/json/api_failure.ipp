#pragma once

#include <agones_alloc/json/api_failure.hpp>
#include <agones_alloc/json/detail/read_members.hpp>
#include <agones_alloc/json/detail/type_check.hpp>
#include <agones_alloc/json/parse.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail::wire {

struct failure_cause {
  std::string_view reason;
  std::string_view field;
};
inline void read_value(reader& in, place const& at, boost::json::value const& value, failure_cause& out) {
  read_members(in, at, value, field{"reason", out.reason}, field{"field", out.field});
}

struct failure_details {
  std::string_view name;
  std::int32_t retry_after_seconds{0};
  std::vector<failure_cause> causes;
};
inline void read_value(reader& in, place const& at, boost::json::value const& value, failure_details& out) {
  read_members(in, at, value, field{"name", out.name}, field{"retryAfterSeconds", out.retry_after_seconds},
               field{"causes", out.causes});
}

/// What a log line or a terminal can show.
inline auto printable(std::string_view text, std::size_t most) -> std::string {
  std::string out{text.substr(0, most)};
  auto const is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  std::replace_if(out.begin(), out.end(), is_control, ' ');
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

}  // namespace detail::wire

AGONES_ALLOC_DECL auto read_api_failure(boost::json::value const& value) -> decoded<api_failure> {
  static constexpr std::size_t most_causes = 64;
  if (auto wrong = detail::wire::wrong_type(value, "Status", {"v1"})) return *std::move(wrong);
  json_read_options const options{};
  return detail::wire::run_reader<api_failure>(options, [&](detail::wire::reader& in, detail::wire::place const& at,
                                                            api_failure& out) {
    std::int32_t code = 0;
    std::string_view reason;
    std::string_view message;
    detail::wire::failure_details details;
    detail::wire::read_members(in, at, value, detail::wire::field{"code", code}, detail::wire::field{"reason", reason},
                               detail::wire::field{"message", message}, detail::wire::field{"details", details});
    out.code = code;
    out.reason = reason;
    out.message = message;
    out.object = details.name;
    out.retry_after = std::chrono::seconds{std::max(details.retry_after_seconds, 0)};
    for (auto const& cause : details.causes) {
      if (out.causes.size() == most_causes) break;
      out.causes.push_back({std::string{cause.reason}, std::string{cause.field}});
    }
  });
}

AGONES_ALLOC_DECL auto api_failure_of(int http_status, std::string_view body) -> api_failure {
  auto const value = parse_json(body, {.max_bytes = 1U << 20U});
  if (value && value->is_object()) {
    if (auto status = read_api_failure(*value)) {
      status->code = http_status;
      return *std::move(status);
    }
  }
  api_failure out;
  out.code = http_status;
  out.message = detail::wire::printable(body, 512);
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
