#pragma once

#include <agones_alloc/beast/request_bounds.hpp>
#include <agones_alloc/beast/rest_front_end.hpp>
#include <agones_alloc/json/parse.hpp>
#include <agones_alloc/json/response.hpp>
#include <agones_alloc/json/rest.hpp>

#include <boost/json/monotonic_resource.hpp>

#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline auto rest_error(int http_status, grpc_code code, std::string message) -> http_response {
  http_response out = json_response(http_status, grpc_error_body({code, message}));
  if (http_status == 401) out.headers.emplace_back("WWW-Authenticate", std::move(message));
  out.route = "rest";
  return out;
}

inline auto rest_error(grpc_code code, std::string message) -> http_response {
  return rest_error(http_status_of(code), code, std::move(message));
}

inline auto write_rest_answer(service_answer const& answer) -> http_response {
  http_response out;
  if (answer.result && is_pending_answer(*answer.result)) {
    out = pending_answer(*answer.result);
    out.route = "rest";
  } else if (answer.code == grpc_code::ok && answer.result) {
    auto const gates = answer.request->gates();
    out = json_response(
        200, allocation_to_rest_response(allocation_response(answer.request->allocation(), *answer.result, gates), gates));
    out.route = "rest";
  } else {
    out = rest_error(answer.http_status, answer.code, answer.message);
  }
  add_service_fields(out, answer);
  return out;
}

/// The body as a request to allocate, or a sentence with the field.
inline auto read_rest_body(std::string_view body, front_end_options const& options)
    -> std::variant<game_server_allocation, std::string> {
  unsigned char memory[4096];
  boost::json::monotonic_resource resource{memory, sizeof memory};
  json_parse_options parsing;
  parsing.max_bytes = body.size() + 1;  // the connection has bounded it
  parsing.allow_trailing = true;
  parsing.empty_is_object = true;
  auto const value = parse_json(body, parsing, &resource);
  if (!value) return to_string(value.error());
  json_read_options reading;
  reading.strict = options.strict;
  reading.refuse_unknown_fields = options.strict;
  auto gsa = rest_request_to_allocation(*value, options.gates, reading);
  if (!gsa) return to_string(gsa.error());
  if (gsa->meta.namespace_.empty()) {
    if (options.strict && options.default_namespace.empty()) return std::string{"namespace: must not be empty"};
    gsa->meta.namespace_ = options.default_namespace;
  }
  return std::move(*gsa);
}

}  // namespace detail

AGONES_ALLOC_DECL rest_front_end::rest_front_end(allocation_backend& backend, timer& time, front_end_options options)
    : service_{backend, time, std::move(options), {detail::read_rest_body, detail::write_rest_answer, true}} {}

AGONES_ALLOC_DECL auto rest_namespace_of(http_request const& request, front_end_options const& options)
    -> std::optional<std::string> {
  if (request.path != "/gameserverallocation" || request.method != "POST") return std::nullopt;
  auto const body = detail::read_rest_body(request.body, options);
  if (std::holds_alternative<std::string>(body)) return std::nullopt;
  return std::get<game_server_allocation>(body).meta.namespace_.str();
}

AGONES_ALLOC_DECL void rest_front_end::handle(http_request const& request, reply done) {
  if (request.path != "/gameserverallocation") return std::move(done)(detail::rest_error(grpc_code::not_found, "Not Found"));
  if (request.method != "POST") {
    auto out = detail::rest_error(grpc_code::unimplemented, "Method Not Allowed");
    out.headers.emplace_back("Allow", "POST");
    return std::move(done)(std::move(out));
  }
  if (has_foreign_origin(request)) {
    return std::move(done)(detail::rest_error(grpc_code::permission_denied, std::string{foreign_origin_message}));
  }
  service_.allocate(request, std::move(done));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
