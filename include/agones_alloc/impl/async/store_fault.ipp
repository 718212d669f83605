#pragma once

#include <agones_alloc/async/store_fault.hpp>

#include <algorithm>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL auto scripted_faults::next(store_operation operation, object_key const&) -> store_fault {
  auto const at = std::find_if(script_.begin(), script_.end(), [&](entry const& e) { return e.operation == operation; });
  if (at == script_.end()) return {};
  auto fault = std::move(at->fault);
  script_.erase(at);
  return fault;
}

AGONES_ALLOC_DECL auto seeded_faults::next(store_operation operation, object_key const&) -> store_fault {
  store_fault fault;
  auto const update = operation == store_operation::update;
  if (rates_.latency.count() > 0) {
    auto const most = static_cast<std::uint64_t>(rates_.latency.count()) + 1;
    fault.before = std::chrono::nanoseconds{static_cast<std::int64_t>(random_.below(most))};
    fault.after = std::chrono::nanoseconds{static_cast<std::int64_t>(random_.below(most))};
  }
  // One draw decides, so that a change of one rate does not shift the others' draws.
  auto draw = random_.unit();
  auto const falls_in = [&draw](double rate) {
    auto const hit = draw >= 0 && draw < rate;
    draw -= rate;
    return hit;
  };
  if (falls_in(rates_.unavailable)) {
    fault.what = store_fault::kind::unavailable;
  } else if (update && falls_in(rates_.conflict)) {
    fault.what = store_fault::kind::conflict;
  } else if (update && falls_in(rates_.refused)) {
    fault.what = store_fault::kind::refused;
  } else if (update && falls_in(rates_.lost_before)) {
    fault.what = store_fault::kind::lost_before;
  } else if (update && falls_in(rates_.lost_after)) {
    fault.what = store_fault::kind::lost_after;
  }
  if (update) fault.lose_event = random_.unit() < rates_.lose_event;
  return fault;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
