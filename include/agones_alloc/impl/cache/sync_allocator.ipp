#pragma once

#include <agones_alloc/cache/sync_allocator.hpp>

#include <memory>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL auto sync_allocator::claim(allocation_request const& request,
                                             std::chrono::sys_time<std::chrono::nanoseconds> now, claimed_server& out)
    -> sync_outcome {
  // There is no later turn: all that is known counts now, however much it is.
  while (index_.drain()) continue;
  auto status = index_.pick_and_claim(request, random_, out.claim);
  while (status == pick_status::building) {
    index_.build_some();
    status = index_.pick_and_claim(request, random_, out.claim);
  }
  switch (status) {
    case pick_status::busy: return sync_outcome::contention;
    case pick_status::none: return sync_outcome::exhausted;
    case pick_status::building:
    case pick_status::picked: break;
  }
  auto desired = std::make_shared<game_server>(*out.claim.server);
  out.report = apply_allocation(*desired, request.allocation().spec, request.gates(), now);
  out.desired = std::move(desired);
  return sync_outcome::claimed;
}

AGONES_ALLOC_DECL void sync_allocator::commit(claimed_server const& server, game_server_ptr written) {
  index_.settle(server.claim.handle, written != nullptr ? std::move(written) : server.desired);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
