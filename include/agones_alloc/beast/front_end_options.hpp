// How the HTTP front ends behave.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/feature_gates.hpp>
#include <agones_alloc/select/request.hpp>

#include <chrono>
#include <string>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct front_end_options {
  feature_gates gates{};
  choice_options choice{};     ///< ranking and top_n of every request
  bool strict{false};          ///< refuse unknown enum names, unknown fields, a REST request without namespace (Q37, Q38)
  bool compatible{false};      ///< Agones' codes for bad input: 500 text/plain; REST validation 500 with code 422
  int http_unallocated_status_code{429};  ///< REST, as Agones' flag of this name (spec 8.9)
  std::string default_namespace{};        ///< for REST requests without one; "": none, which matches nothing
  std::chrono::nanoseconds request_time{std::chrono::seconds{30}};  ///< the most one request may take; a client may ask for less
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
