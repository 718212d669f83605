#pragma once

#include <agones_alloc/json/detail/read_members.hpp>
#include <agones_alloc/json/detail/writer.hpp>
#include <agones_alloc/json/grpc_code.hpp>

#include <array>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail::wire {

struct grpc_code_row {
  grpc_code code;
  std::string_view name;
  int http_status;
};

inline constexpr std::array<grpc_code_row, 17> grpc_code_rows{{
    {grpc_code::ok, "OK", 200},
    {grpc_code::cancelled, "Canceled", 499},
    {grpc_code::unknown, "Unknown", 500},
    {grpc_code::invalid_argument, "InvalidArgument", 400},
    {grpc_code::deadline_exceeded, "DeadlineExceeded", 504},
    {grpc_code::not_found, "NotFound", 404},
    {grpc_code::already_exists, "AlreadyExists", 409},
    {grpc_code::permission_denied, "PermissionDenied", 403},
    {grpc_code::resource_exhausted, "ResourceExhausted", 429},
    {grpc_code::failed_precondition, "FailedPrecondition", 400},
    {grpc_code::aborted, "Aborted", 409},
    {grpc_code::out_of_range, "OutOfRange", 400},
    {grpc_code::unimplemented, "Unimplemented", 501},
    {grpc_code::internal, "Internal", 500},
    {grpc_code::unavailable, "Unavailable", 503},
    {grpc_code::data_loss, "DataLoss", 500},
    {grpc_code::unauthenticated, "Unauthenticated", 401},
}};

}  // namespace detail::wire

AGONES_ALLOC_DECL auto to_string(grpc_code code) -> std::string {
  for (auto const& row : detail::wire::grpc_code_rows) {
    if (row.code == code) return std::string{row.name};
  }
  return "Code(" + std::to_string(static_cast<int>(code)) + ")";
}

AGONES_ALLOC_DECL auto http_status_of(grpc_code code) noexcept -> int {
  for (auto const& row : detail::wire::grpc_code_rows) {
    if (row.code == code) return row.http_status;
  }
  return 500;
}

AGONES_ALLOC_DECL auto unallocated_code_for(int http_status) noexcept -> unallocated_code {
  switch (http_status) {
    case 200: return {grpc_code::ok};
    case 400: return {grpc_code::invalid_argument};
    case 401: return {grpc_code::unauthenticated};
    case 403: return {grpc_code::permission_denied};
    case 404: return {grpc_code::not_found};
    case 409: return {grpc_code::already_exists};
    case 429: return {grpc_code::resource_exhausted};
    case 499: return {grpc_code::cancelled};
    case 500: return {grpc_code::internal};
    case 501: return {grpc_code::unimplemented};
    case 503: return {grpc_code::unavailable};
    case 504: return {grpc_code::deadline_exceeded};
    default: return {grpc_code::resource_exhausted, false};
  }
}

AGONES_ALLOC_DECL auto grpc_status_of_state(std::string_view state, grpc_code unallocated) -> grpc_status {
  if (state == "Allocated") return {};
  if (state == "UnAllocated") {
    if (unallocated == grpc_code::ok) return {};
    return {unallocated, "there is no available GameServer to allocate"};
  }
  if (state == "Contention") return {grpc_code::aborted, "too many concurrent requests have overwhelmed the system"};
  return {grpc_code::unknown, "unknown issue"};
}

AGONES_ALLOC_DECL auto grpc_error_body(grpc_status const& status) -> std::string {
  return detail::wire::written([&](detail::wire::writer& to) {
    to.open('{');
    to.key("code");
    to.number(static_cast<int>(status.code));
    to.key("message");
    to.text(status.message);
    to.key("details");
    to.raw("[]");
    to.close('}');
  });
}

AGONES_ALLOC_DECL auto read_grpc_error(boost::json::value const& value) -> decoded<grpc_status> {
  json_read_options const options{};
  return detail::wire::run_reader<grpc_status>(
      options,
      [&](detail::wire::reader& in, detail::wire::place const& at, grpc_status& out) {
        std::int32_t code = static_cast<int>(grpc_code::unknown);
        std::string_view message;
        detail::wire::read_members(in, at, value, detail::wire::field{"code", code},
                                   detail::wire::field{"message", message});
        out.code = static_cast<grpc_code>(code);
        out.message = message;
      },
      detail::wire::dialect::proto);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
