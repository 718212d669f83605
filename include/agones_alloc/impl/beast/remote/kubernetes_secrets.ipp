#pragma once

#include <agones_alloc/beast/kubernetes/api_path.hpp>
#include <agones_alloc/beast/kubernetes/detail/adapted_handler.hpp>
#include <agones_alloc/beast/remote/kubernetes_secrets.hpp>
#include <agones_alloc/json/api_failure.hpp>
#include <agones_alloc/json/base64.hpp>
#include <agones_alloc/json/parse.hpp>

#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline constexpr std::size_t secret_bytes = 2U << 20U;  // a Secret holds at most 1 MiB, more in base64

inline auto read_secret_object(std::string_view text, secret_data& out) -> error_code {
  auto const value = parse_json(text, {.max_bytes = secret_bytes + 1});
  auto const* const data = value && value->is_object() ? value->get_object().if_contains("data") : nullptr;
  if (!value || !value->is_object() || (data != nullptr && !data->is_object() && !data->is_null())) {
    out.problem = "the API server's answer is no Secret";
    return errc::malformed;
  }
  if (data == nullptr || data->is_null()) return {};
  for (auto const& [key, encoded] : data->get_object()) {
    auto bytes = encoded.is_string() ? decode_base64(encoded.get_string()) : std::nullopt;
    if (!bytes) {
      out.problem = "data." + std::string{key} + ": is no base64";
      return errc::malformed;
    }
    out.entries.emplace(key, *std::move(bytes));
  }
  return {};
}

inline auto secret_answer(error_code ec, client_response const& answer) -> std::pair<error_code, secret_data> {
  secret_data out;
  if (ec) {
    out.problem = "the API server cannot be reached: " + ec.message();
    return {ec == errc::cancelled ? ec : error_code{errc::unavailable}, std::move(out)};
  }
  if (answer.status == 200) {
    auto const read = read_secret_object(answer.body, out);
    if (read) out.entries.clear();
    return {read, std::move(out)};
  }
  out.problem = api_failure_of(answer.status, answer.body).message;
  if (out.problem.empty()) out.problem = "HTTP status " + std::to_string(answer.status);
  switch (answer.status) {
    case 404: return {errc::not_found, std::move(out)};
    case 401:
    case 403: return {errc::refused, std::move(out)};
    default: return {errc::unavailable, std::move(out)};
  }
}

}  // namespace detail

AGONES_ALLOC_DECL void kubernetes_secrets::do_get(std::string space, std::string name, handler done) {
  client_request request;
  request.target = object_path({"v1", "secrets"}, space, name);
  request.headers.emplace_back("Accept", "application/json");
  request.deadline = time_->now() + request_time_;
  request.body_limit = detail::secret_bytes;
  client_->async_request(std::move(request), detail::adapted(std::move(done), &detail::secret_answer));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
