// Kubernetes Events about embedded game servers: what `kubectl describe` and `kubectl get events` show.
#pragma once

#include <agones_alloc/beast/cluster_api/api_answer.hpp>
#include <agones_alloc/beast/cluster_api/list_query.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/flow/event_correlator.hpp>
#include <agones_alloc/json/write_event.hpp>
#include <agones_alloc/port/recorder.hpp>
#include <agones_alloc/port/timer.hpp>

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Keeps the newest Events in memory, correlated as Kubernetes' own recorder does, and hands each on to another recorder.
/// Confined to the allocator's executor.
class event_book final : public recorder {
 public:
  /// The timer and `also`, which may be null, must outlive it.
  AGONES_ALLOC_DECL explicit event_book(timer&, recorder* also = nullptr, std::size_t most = 1024);
  AGONES_ALLOC_DECL void record(game_server const& about, type, std::string_view reason, std::string_view message) override;

  /// An EventList, or a Table, of the namespace ("": all) and of what the requirements say; the oldest first. Fields:
  /// metadata.name, metadata.namespace, type, reason, involvedObject.kind, .name, .namespace, .uid; others hold for none.
  AGONES_ALLOC_DECL auto list(std::string_view space, std::vector<field_term> const&, api_form) const -> std::string;

 private:
  timer* time_;
  recorder* also_;
  std::size_t most_;
  event_correlator correlator_;
  std::deque<kubernetes_event> events_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/cluster_api/event_book.ipp>
#endif
