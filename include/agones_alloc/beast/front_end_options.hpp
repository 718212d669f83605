// How the HTTP front ends behave.
#pragma once

#include <agones_alloc/beast/http_message.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/model/feature_gates.hpp>
#include <agones_alloc/select/request.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct front_end_options {
  feature_gates gates{};
  choice_options choice{};     ///< ranking and top_n of every request
  bool strict{false};          ///< refuse unknown enum names, unknown fields, a REST request without namespace (Q37, Q38)
  bool compatible{false};      ///< Agones' codes for bad input: 500 text/plain; REST validation 500 with code 422
  int http_unallocated_status_code{429};  ///< REST, as Agones' flag of this name (spec 8.9)
  std::string default_namespace{};        ///< for REST requests without one; "": none, which matches nothing
  std::chrono::nanoseconds request_time{std::chrono::seconds{30}};  ///< the most one request may take; a client may ask for less
  std::chrono::nanoseconds longest_wait{std::chrono::minutes{1}};  ///< most of a `Prefer: wait`, beyond request_time; 0: nobody waits
  std::size_t max_selectors{64};           ///< `selectors` and `preferred` together; more: 422, over REST 400
  std::size_t max_priorities{16};          ///< the same
  std::size_t max_label_values{256};       ///< of one matchExpression; the same
  std::uint32_t max_hops{4};  ///< a request that was forwarded more often is in a loop: 508
  /// Whether the request's sender may allocate in the namespace; else 403. Empty: everybody may who got through.
  std::function<bool(http_request const&, std::string_view)> may_allocate{};
  std::vector<std::string> allowed_origins{};  ///< whose pages may read fleet information (CORS); empty: no other host's
  /// Whether the servers have been listed: before, a claim that is not found is 503 and not 404. Empty: they have.
  std::function<bool()> listed{};
  std::size_t yaml_body_bytes{64 * 1024};  ///< reading YAML costs much more than JSON; more: 413
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
