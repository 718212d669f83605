#pragma once

#include <agones_alloc/beast/caller_gate.hpp>
#include <agones_alloc/beast/claims_front_end.hpp>
#include <agones_alloc/json/grpc_code.hpp>
#include <agones_alloc/json/status.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <chrono>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

/// A request takes milliseconds where it does not wait; whole seconds are all that the field can say.
inline constexpr std::chrono::seconds caller_retry_after{1};

inline auto too_many_of_caller(http_request const& request, std::size_t most, refusal_form form) -> http_response {
  auto message = "this client has " + std::to_string(most) + " requests under way, which is the most it may have";
  auto const answer = [&] {
    switch (form) {
      case refusal_form::kubernetes: {
        api_status status;
        status.code = 429;
        status.message = std::move(message);
        status.retry_after = caller_retry_after;
        return json_response(429, to_json_status(status));
      }
      case refusal_form::rest: break;
    }
    if (request.path.starts_with("/v1/")) {
      return json_response(429, boost::json::serialize(boost::json::object{{"code", 429}, {"message", message}}));
    }
    return json_response(http_status_of(grpc_code::aborted), grpc_error_body({grpc_code::aborted, std::move(message)}));
  };
  auto out = answer();
  out.headers.emplace_back("Retry-After", std::to_string(caller_retry_after.count()));
  out.route = "refused";
  return out;
}

inline auto is_urgent(http_request const& request) noexcept -> bool {
  return request.method == "POST" && request.path.starts_with(claims_front_end::prefix);
}

}  // namespace detail

AGONES_ALLOC_DECL void caller_gate::handle(http_request const& request, reply done) {
  auto pass = loads_->enter(caller_key(request), detail::is_urgent(request));
  if (!pass) return std::move(done)(detail::too_many_of_caller(request, loads_->most(), form_));
  auto const slot = boost::asio::get_associated_cancellation_slot(done);
  auto const executor = boost::asio::get_associated_executor(done);
  behind_->handle(request, reply{boost::asio::bind_cancellation_slot(
                               slot, boost::asio::bind_executor(executor, [pass = std::move(pass), done = std::move(done)](
                                                                              http_response response) mutable {
                                 { auto const over = std::move(pass); }
                                 std::move(done)(std::move(response));
                               }))});
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
