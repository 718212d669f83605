#pragma once

#include <agones_alloc/json/detail/read_members.hpp>
#include <agones_alloc/json/detail/type_check.hpp>
#include <agones_alloc/json/detail/writer.hpp>
#include <agones_alloc/json/status.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail::wire {

inline void text_member(writer& to, std::string_view name, std::string_view value) {
  to.key(name);
  to.text(value);
}

/// `{"kind":"Status",...,"message":...,"reason":...`, left open; the order is metav1.Status's.
inline void open_status(writer& to, std::string_view message, std::string_view reason) {
  to.open('{');
  text_member(to, "kind", "Status");
  text_member(to, "apiVersion", "v1");
  to.key("metadata");
  to.raw("{}");
  text_member(to, "status", "Failure");
  text_member(to, "message", message);
  if (!reason.empty()) text_member(to, "reason", reason);
}

inline void close_status(writer& to, int code) {
  to.key("code");
  to.number(code);
  to.close('}');
}

struct status_details {
  std::int32_t retry_after_seconds{0};
};
inline void read_value(reader& in, place const& at, boost::json::value const& value, status_details& out) {
  read_members(in, at, value, field{"retryAfterSeconds", out.retry_after_seconds});
}

}  // namespace detail::wire

AGONES_ALLOC_DECL auto invalid_message(std::string_view name, field_errors const& errors) -> std::string {
  return "GameServerAllocation.allocation.agones.dev \"" + std::string{name} + "\" is invalid: " + to_string(errors);
}

AGONES_ALLOC_DECL auto invalid_status(std::string_view name, field_errors const& errors) -> std::string {
  return detail::wire::written([&](detail::wire::writer& to) {
    detail::wire::open_status(to, invalid_message(name, errors), "Invalid");
    to.key("details");
    to.open('{');
    if (!name.empty()) detail::wire::text_member(to, "name", name);
    detail::wire::text_member(to, "group", "allocation.agones.dev");
    detail::wire::text_member(to, "kind", "GameServerAllocation");
    to.key("causes");
    to.open('[');
    for (auto const& error : errors) {
      to.open('{');
      detail::wire::text_member(to, "reason", to_string(error.type));
      detail::wire::text_member(to, "message", body_of(error));
      detail::wire::text_member(to, "field", error.field);
      to.close('}');
    }
    to.close(']');
    to.close('}');
    detail::wire::close_status(to, 422);
  });
}

AGONES_ALLOC_DECL auto to_json_status(api_status const& status) -> std::string {
  return detail::wire::written([&](detail::wire::writer& to) {
    detail::wire::open_status(to, status.message,
                              status.reason.empty() ? reason_for(status.code) : std::string_view{status.reason});
    if (status.retry_after.count() != 0) {
      to.key("details");
      to.open('{');
      to.key("retryAfterSeconds");
      to.number(status.retry_after.count());
      to.close('}');
    }
    detail::wire::close_status(to, status.code);
  });
}

AGONES_ALLOC_DECL auto reason_for(int http_status) noexcept -> std::string_view {
  switch (http_status) {
    case 400: return "BadRequest";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "NotFound";
    case 405: return "MethodNotAllowed";
    case 406: return "NotAcceptable";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 413: return "RequestEntityTooLarge";
    case 415: return "UnsupportedMediaType";
    case 422: return "Invalid";
    case 429: return "TooManyRequests";
    case 500: return "InternalError";
    case 503: return "ServiceUnavailable";
    case 504: return "Timeout";
    default: return "";
  }
}

AGONES_ALLOC_DECL auto read_status(boost::json::value const& value) -> decoded<api_status> {
  if (auto wrong = detail::wire::wrong_type(value, "Status", {"v1"})) return *std::move(wrong);
  json_read_options const options{};
  return detail::wire::run_reader<api_status>(options, [&](detail::wire::reader& in, detail::wire::place const& at,
                                                           api_status& out) {
    std::int32_t code = 0;
    std::string_view reason;
    std::string_view message;
    detail::wire::status_details details;
    detail::wire::read_members(in, at, value, detail::wire::field{"code", code}, detail::wire::field{"reason", reason},
                               detail::wire::field{"message", message}, detail::wire::field{"details", details});
    out = {code, std::string{reason}, std::string{message}, std::chrono::seconds{details.retry_after_seconds}};
  });
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
