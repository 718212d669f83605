#pragma once

#include <agones_alloc/beast/forwarded_request.hpp>
#include <agones_alloc/beast/outcome_answer.hpp>
#include <agones_alloc/beast/query_string.hpp>
#include <agones_alloc/beast/request_bounds.hpp>
#include <agones_alloc/beast/rest_front_end.hpp>
#include <agones_alloc/json/parse.hpp>
#include <agones_alloc/json/response.hpp>
#include <agones_alloc/json/rest.hpp>
#include <agones_alloc/json/status.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/json/monotonic_resource.hpp>

#include <algorithm>
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

/// The code of a store's refusal, nearest to its HTTP code.
inline auto code_of_refusal(int http_status) noexcept -> grpc_code {
  switch (http_status) {
    case 401: return grpc_code::unauthenticated;
    case 403: return grpc_code::permission_denied;
    case 404: return grpc_code::not_found;
    case 429: return grpc_code::resource_exhausted;
    default: return http_status < 500 ? grpc_code::invalid_argument : grpc_code::unknown;
  }
}

inline auto rest_answer(request_ptr const& request, allocation_result const& result, grpc_code unallocated) -> http_response {
  auto const allocated = [&] {
    auto out = json_response(
        200, allocation_to_rest_response(allocation_response(request->allocation(), result, request->gates()), request->gates()));
    out.route = "rest";
    return out;
  };
  switch (result.result) {
    case outcome::allocated: return allocated();
    case outcome::exhausted:
      return unallocated == grpc_code::ok ? allocated() : rest_error(unallocated, failure_message(result));
    case outcome::contention: return rest_error(grpc_code::aborted, failure_message(result));
    case outcome::invalid: return rest_error(grpc_code::invalid_argument, failure_message(result));
    case outcome::refused: {
      auto const status = failure_status(result);
      return rest_error(status, code_of_refusal(status), failure_message(result));
    }
    case outcome::unavailable: return rest_error(grpc_code::unavailable, failure_message(result));
    case outcome::unknown:
    case outcome::deadline: return rest_error(grpc_code::deadline_exceeded, failure_message(result));
    case outcome::cancelled: return rest_error(grpc_code::cancelled, failure_message(result));
  }
  return rest_error(grpc_code::unknown, "unknown issue");
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
    : backend_{&backend},
      time_{&time},
      options_{std::move(options)},
      unallocated_{unallocated_code_for(options_.http_unallocated_status_code).code} {}

AGONES_ALLOC_DECL auto rest_namespace_of(http_request const& request, front_end_options const& options)
    -> std::optional<std::string> {
  if (request.path != "/gameserverallocation" || request.method != "POST") return std::nullopt;
  auto const body = detail::read_rest_body(request.body, options);
  if (std::holds_alternative<std::string>(body)) return std::nullopt;
  return std::get<game_server_allocation>(body).meta.namespace_.str();
}

AGONES_ALLOC_DECL void rest_front_end::handle(http_request const& request, reply done) {
  if (request.path != "/gameserverallocation") return std::move(done)(detail::rest_error(grpc_code::not_found, "Not Found"));
  if (request.method != "POST") return std::move(done)(detail::rest_error(grpc_code::unimplemented, "Method Not Allowed"));
  if (has_foreign_origin(request)) {
    return std::move(done)(detail::rest_error(grpc_code::permission_denied, std::string{foreign_origin_message}));
  }
  allocate(request, std::move(done));
}

AGONES_ALLOC_DECL auto rest_front_end::compile(std::string_view text, bool exact) -> std::variant<request_ptr, http_response> {
  // Remembered are those of the usual mode.
  bool const usual = exact == options_.choice.exact;
  if (usual) {
    if (auto known = compiled_.find(text)) return known;
  }
  auto body = detail::read_rest_body(text, options_);
  if (auto* problem = std::get_if<std::string>(&body)) {
    return detail::rest_error(grpc_code::invalid_argument, std::move(*problem));
  }
  auto& gsa = *std::get_if<game_server_allocation>(&body);
  bool const wants_clusters = gsa.spec.multi_cluster.enabled;
  auto const refusal = [this](field_errors const& errors) {
    auto message = invalid_message({}, errors);
    if (options_.compatible) return detail::rest_error(500, static_cast<grpc_code>(422), std::move(message));
    return detail::rest_error(grpc_code::invalid_argument, std::move(message));
  };
  if (auto const errors = check_bounds(gsa.spec, options_); !errors.empty()) return refusal(errors);
  auto choice = options_.choice;
  choice.exact = exact;
  auto made = allocation_request::make(std::move(gsa), options_.gates, std::move(choice));
  if (auto const* errors = std::get_if<field_errors>(&made)) return refusal(*errors);
  if (wants_clusters && !backend_->has_clusters()) return detail::rest_error(grpc_code::unknown, std::string{no_policy_message});
  auto request = std::move(*std::get_if<request_ptr>(&made));
  if (usual) compiled_.remember(text, request);
  return request;
}

AGONES_ALLOC_DECL void rest_front_end::allocate(http_request const& request, reply done) {
  auto const invalid = [&done](std::string message) {
    std::move(done)(detail::rest_error(grpc_code::invalid_argument, std::move(message)));
  };
  bool dry_run = false;
  for (auto const& value : query_values(request.query, "dryRun")) {
    if (value != "All") return invalid("dryRun: only \"All\" is understood");
    dry_run = true;
  }
  auto time = options_.request_time;
  if (auto const field = request.header("Grpc-Timeout"); !field.empty()) {
    auto const asked = parse_grpc_timeout(field);
    if (!asked) return invalid("Grpc-Timeout: at most eight digits and a unit (H, M, S, m, u, n) are wanted, not " + field);
    time = std::min(time, *asked);
  }

  auto const exact = read_action_mode(request, {}, options_);
  if (auto const* problem = std::get_if<std::string>(&exact)) return invalid(*problem);
  auto compiled = compile(request.body, *std::get_if<bool>(&exact));
  if (auto* refusal = std::get_if<http_response>(&compiled)) return std::move(done)(std::move(*refusal));
  auto made_request = std::move(*std::get_if<request_ptr>(&compiled));
  auto way = read_forwarded(request, made_request->allocation().meta.namespace_.view(), options_);
  if (auto* const refusal = std::get_if<forward_refusal>(&way)) {
    auto const code = refusal->status == 403   ? grpc_code::permission_denied
                      : refusal->status == 400 ? grpc_code::invalid_argument
                                               : grpc_code::failed_precondition;
    return std::move(done)(detail::rest_error(refusal->status, code, std::move(refusal->message)));
  }
  auto& forwarded = *std::get_if<forwarded_request>(&way);
  auto asked = read_call_terms(request, made_request->allocation().meta.annotations, options_);
  if (auto* const problem = std::get_if<std::string>(&asked)) return invalid(std::move(*problem));
  auto& terms = *std::get_if<call_terms>(&asked);
  auto const wait = terms.wait_for;
  auto const slot = boost::asio::get_associated_cancellation_slot(done);
  auto const executor = boost::asio::get_associated_executor(done);
  allocation_backend::call call{made_request, time_->now() + time + wait, dry_run, std::move(terms), forwarded.hops};
  backend_->allocate(
      std::move(call),
      boost::asio::bind_cancellation_slot(
          slot, boost::asio::bind_executor(executor, [done = std::move(done), kept = std::move(made_request),
                                                      unallocated = unallocated_, wait](error_code, allocation_result result) mutable {
            auto out = detail::rest_answer(kept, result, unallocated);
            add_outcome_fields(out, result);
            add_claim_fields(out, result, wait);
            std::move(done)(std::move(out));
          })));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
