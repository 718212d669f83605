#pragma once

#include <agones_alloc/beast/forwarded_request.hpp>
#include <agones_alloc/beast/remote/hop_header.hpp>

#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL auto read_forwarded(http_request const& request, std::string_view space,
                                      front_end_options const& options)
    -> std::variant<forwarded_request, forward_refusal> {
  if (options.may_allocate && !options.may_allocate(request, space)) {
    return forward_refusal{403, "the client may not allocate in namespace \"" + std::string{space} + "\""};
  }
  forwarded_request out;
  auto const hops = parse_hops(request.header(hop_header));
  if (!hops) return forward_refusal{400, std::string{hop_header} + ": a number is wanted"};
  if (*hops > options.max_hops) return forward_refusal{508, "the request has been forwarded too often: is there a loop?"};
  out.hops = *hops;
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
