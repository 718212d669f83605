// `POST /v1/query`: is there room? Asked with an allocation request, answered without allocating.
#pragma once

#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/beast/front_end_options.hpp>
#include <agones_alloc/beast/http_handler.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/timer.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Takes both wire forms: a body with `spec`, `kind` or `apiVersion` is a GameServerAllocation (its namespace in
/// `metadata.namespace`, or the parameter `namespace`), any other an AllocationRequest of the REST form. `names` (0 to
/// 100, by default 5) is how many servers are named.
///
/// 200 with `{"clusterName","namespace","result","fits","exact","selectors":[{"free","inFlight","clauses":[{"name",
/// "remaining"}]}],"gameServers"}`, about this cluster only. 400 names the parameter or field that is wrong, 422 lists what
/// does not validate; 403, 405, 499, 503, 504, 508 as for an allocation.
///
/// Allocator and timer must outlive it and its requests. Thread safety: as the listener's.
class query_front_end final : public http_handler {
 public:
  static constexpr std::string_view path = "/v1/query";

  query_front_end(allocator& allocates, timer& time, front_end_options options, std::string cluster = "local")
      : allocates_{&allocates}, time_{&time}, options_{std::move(options)}, cluster_{std::move(cluster)} {}

  AGONES_ALLOC_DECL void handle(http_request const&, reply) override;

 private:
  allocator* allocates_;
  timer* time_;
  front_end_options options_;
  std::string cluster_;
};

/// The namespace that a request to it looks at, "" for none; nullopt: it cannot be read. For an access_gate.
AGONES_ALLOC_DECL auto query_namespace_of(http_request const&, front_end_options const&) -> std::optional<std::string>;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/fleets/query_front_end.ipp>
#endif
