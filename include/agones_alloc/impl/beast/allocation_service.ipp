#pragma once

#include <agones_alloc/async/detail/allocated_simply.hpp>
#include <agones_alloc/beast/allocation_service.hpp>
#include <agones_alloc/beast/forwarded_request.hpp>
#include <agones_alloc/beast/outcome_answer.hpp>
#include <agones_alloc/beast/query_string.hpp>
#include <agones_alloc/beast/request_bounds.hpp>
#include <agones_alloc/json/status.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>

#include <algorithm>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

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

inline auto answer_of(request_ptr request, allocation_result result, grpc_code unallocated, std::chrono::nanoseconds wait)
    -> service_answer {
  service_answer out;
  out.code = service_code_of(result, unallocated);
  out.http_status = result.result == outcome::refused ? failure_status(result) : http_status_of(out.code);
  if (out.code != grpc_code::ok) out.message = failure_message(result);
  out.errors = result.errors;
  out.request = std::move(request);
  out.result = std::move(result);
  out.waited_for = wait;
  return out;
}

}  // namespace detail

AGONES_ALLOC_DECL auto service_code_of(allocation_result const& result, grpc_code unallocated) noexcept -> grpc_code {
  switch (result.result) {
    case outcome::allocated: return grpc_code::ok;
    case outcome::exhausted: return unallocated;
    case outcome::contention: return grpc_code::aborted;
    case outcome::invalid: return grpc_code::invalid_argument;
    case outcome::refused: return detail::code_of_refusal(failure_status(result));
    case outcome::unavailable: return grpc_code::unavailable;
    case outcome::unknown:
    case outcome::deadline: return grpc_code::deadline_exceeded;
    case outcome::cancelled: return grpc_code::cancelled;
  }
  return grpc_code::unknown;
}

AGONES_ALLOC_DECL void add_service_fields(http_response& response, service_answer const& answer) {
  if (!answer.result) return;
  add_outcome_fields(response, *answer.result);
  add_claim_fields(response, *answer.result, answer.waited_for);
}

AGONES_ALLOC_DECL allocation_service::allocation_service(allocation_backend& backend, timer& time, front_end_options options,
                                                         service_wire wire)
    : backend_{&backend},
      time_{&time},
      options_{std::move(options)},
      wire_{wire},
      unallocated_{unallocated_code_for(options_.http_unallocated_status_code).code} {}

AGONES_ALLOC_DECL auto allocation_service::compile(std::string_view text, bool exact)
    -> std::variant<request_ptr, service_answer> {
  // Remembered are those of the usual mode.
  bool const usual = exact == options_.choice.exact;
  if (usual) {
    if (auto known = compiled_.find(text)) return known;
  }
  auto body = wire_.read(text, options_);
  if (auto* problem = std::get_if<std::string>(&body)) {
    return service_answer::refusal(grpc_code::invalid_argument, std::move(*problem));
  }
  auto& gsa = *std::get_if<game_server_allocation>(&body);
  bool const wants_clusters = gsa.spec.multi_cluster.enabled;
  auto const refusal = [this](field_errors errors) {
    auto out = service_answer::refusal(grpc_code::invalid_argument, invalid_message({}, errors));
    out.errors = std::move(errors);
    if (options_.compatible) {
      out.code = static_cast<grpc_code>(422);
      out.http_status = 500;
    }
    return out;
  };
  if (auto errors = check_bounds(gsa.spec, options_); !errors.empty()) return refusal(std::move(errors));
  auto choice = options_.choice;
  choice.exact = exact;
  auto made = allocation_request::make(std::move(gsa), options_.gates, std::move(choice));
  if (auto* errors = std::get_if<field_errors>(&made)) return refusal(std::move(*errors));
  if (wants_clusters && !backend_->has_clusters()) {
    return service_answer::refusal(grpc_code::unknown, std::string{no_policy_message});
  }
  auto request = std::move(*std::get_if<request_ptr>(&made));
  if (usual) compiled_.remember(text, request);
  return request;
}

AGONES_ALLOC_DECL void allocation_service::allocate(http_request const& request, http_handler::reply done) {
  auto const refuse = [&done, this](service_answer const& answer) { std::move(done)(wire_.write(answer)); };
  auto const invalid = [&refuse](std::string message) {
    refuse(service_answer::refusal(grpc_code::invalid_argument, std::move(message)));
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
  if (auto const* const refusal = std::get_if<service_answer>(&compiled)) return refuse(*refusal);
  auto made_request = std::move(*std::get_if<request_ptr>(&compiled));
  auto way = read_forwarded(request, made_request->allocation().meta.namespace_.view(), options_);
  if (auto* const refusal = std::get_if<forward_refusal>(&way)) {
    auto const code = refusal->status == 403   ? grpc_code::permission_denied
                      : refusal->status == 400 ? grpc_code::invalid_argument
                                               : grpc_code::failed_precondition;
    return refuse({code, refusal->status, std::move(refusal->message)});
  }
  auto& forwarded = *std::get_if<forwarded_request>(&way);
  auto asked = read_call_terms(request, made_request->allocation().meta.annotations, options_);
  if (auto* const problem = std::get_if<std::string>(&asked)) return invalid(std::move(*problem));
  auto& terms = *std::get_if<call_terms>(&asked);
  terms.gate_async = terms.gate_async && wire_.tells_pending;
  auto const wait = terms.wait_for;
  auto const slot = boost::asio::get_associated_cancellation_slot(done);
  auto const executor = boost::asio::get_associated_executor(done);
  allocation_backend::call call{made_request, time_->now() + time + wait, dry_run, std::move(terms), forwarded.hops};
  backend_->allocate(
      std::move(call),
      boost::asio::bind_cancellation_slot(
          slot, boost::asio::bind_executor(executor, detail::allocated_simply([done = std::move(done), kept = std::move(made_request), wait,
                                                                               unallocated = unallocated_, write = wire_.write](
                                                                                  error_code, allocation_result result) mutable {
            std::move(done)(write(detail::answer_of(std::move(kept), std::move(result), unallocated, wait)));
          }))));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
