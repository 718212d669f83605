// What the paths below /v1 have in common: how they refuse, and what they take for a parameter.
#pragma once

#include <agones_alloc/beast/http_message.hpp>
#include <agones_alloc/beast/query_parameters.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/json/detail/write_members.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// `{"code":STATUS,"message":...}`; what is not UTF-8 in the message becomes U+FFFD. `route`: a literal.
inline auto plain_failure(int status, std::string_view message, std::string_view route) -> http_response {
  auto out = json_response(status, wire::written([&](wire::writer& to) {
    to.open('{');
    wire::write_member(to, "code", std::int64_t{status});
    to.key("message");
    to.text(message);
    to.close('}');
  }));
  out.route = route;
  return out;
}

/// 405. `allowed`: the methods that are understood, for `Allow`.
inline auto method_refusal(std::string_view message, std::string_view allowed, std::string_view route) -> http_response {
  auto out = plain_failure(405, message, route);
  out.headers.emplace_back("Allow", allowed);
  return out;
}

/// Of a path without parameters: what is wrong with those that were given, "" where there are none.
inline auto problem_of_parameters(std::string_view query) -> std::string {
  query_parameters in{query};
  in.finish();
  return in.problem();
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
