#pragma once

#include <agones_alloc/beast/detail/plain_answer.hpp>
#include <agones_alloc/beast/gate_front_end.hpp>

#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL void gate_front_end::handle(http_request const& request, reply done) {
  auto const answer = [&done](http_response out) {
    out.route = "gates";
    std::move(done)(std::move(out));
  };
  if (!request.path.starts_with(prefix)) return answer(text_response(404, "no such path"));
  if (request.method != "POST") {
    auto no = text_response(405, "POST to TOKEN:ready or TOKEN:failed");
    no.headers.emplace_back("Allow", "POST");
    return answer(std::move(no));
  }
  auto token = request.path;
  token.remove_prefix(prefix.size());
  static constexpr std::string_view ready = ":ready";
  static constexpr std::string_view failed = ":failed";
  bool const is_ready = token.ends_with(ready);
  if (!is_ready && !token.ends_with(failed)) return answer(text_response(404, "TOKEN:ready or TOKEN:failed is wanted"));
  if (auto const problem = detail::problem_of_parameters(request.query); !problem.empty()) return answer(text_response(400, problem));
  token.remove_suffix(is_ready ? ready.size() : failed.size());
  if (token.empty() || !gate_->call(token, is_ready)) return answer(text_response(404, "no game server waits for this token"));
  http_response out;
  out.status = 204;
  answer(std::move(out));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
