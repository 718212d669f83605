// What a request to /v1/claims asks for.
#pragma once

#include <agones_alloc/beast/detail/plain_answer.hpp>
#include <agones_alloc/beast/front_end_options.hpp>
#include <agones_alloc/beast/http_message.hpp>
#include <agones_alloc/beast/query_parameters.hpp>
#include <agones_alloc/beast/query_string.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/select/claim.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

enum class claim_verb : std::uint8_t { look, confirm, release };

struct claim_query {
  claim_verb what{claim_verb::look};
  std::string id;
  std::string ns;
  release_to to{release_to::ready};
};

inline auto claim_failure(int status, std::string_view message) -> http_response { return plain_failure(status, message, "claims"); }

/// Cuts `:confirm` or `:release` off a name. As a part of an id they are percent-encoded.
inline auto take_claim_verb(std::string_view& name) -> claim_verb {
  for (auto const& [ending, verb] : {std::pair{std::string_view{":confirm"}, claim_verb::confirm},
                                     std::pair{std::string_view{":release"}, claim_verb::release}}) {
    if (!name.ends_with(ending)) continue;
    name.remove_suffix(ending.size());
    return verb;
  }
  return claim_verb::look;
}

/// `name`: the path behind the prefix, as it came. What is asked, or why it is not understood.
inline auto read_claim_query(http_request const& request, std::string_view name, front_end_options const& options)
    -> std::variant<claim_query, http_response> {
  claim_query out;
  out.what = take_claim_verb(name);
  if (out.what == claim_verb::look && request.method != "GET" && request.method != "HEAD") {
    return method_refusal("GET a claim, or POST to ID:confirm or ID:release", "GET, HEAD", "claims");
  }
  if (out.what != claim_verb::look && request.method != "POST") {
    return method_refusal("POST to ID:confirm or ID:release, or GET a claim", "POST", "claims");
  }
  auto id = percent_decoded(name);
  if (!id) return claim_failure(400, "the id in the path is badly encoded");
  if (auto const problem = request_id_problem(*id); !problem.empty()) return claim_failure(400, "the id in the path " + problem);
  out.id = *std::move(id);
  query_parameters in{request.query};
  out.ns = in.space().value_or(options.default_namespace);
  if (out.what == claim_verb::release) {
    auto const to = in.text("to").value_or("ready");
    if (to != "ready" && to != "shutdown") in.fail("to", "ready or shutdown is wanted");
    out.to = to == "shutdown" ? release_to::shutdown : release_to::ready;
  }
  in.finish();
  if (out.ns.empty()) in.fail("namespace", "is wanted in the query");
  if (!in.ok()) return claim_failure(400, in.problem());
  if (options.may_allocate && !options.may_allocate(request, out.ns)) {
    return claim_failure(403, "the client may not allocate in namespace \"" + out.ns + "\"");
  }
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
