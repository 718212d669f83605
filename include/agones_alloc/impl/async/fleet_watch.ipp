#pragma once

#include <agones_alloc/async/detail/fleet_directory_core.hpp>
#include <agones_alloc/async/fleet_watch.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL fleet_watch::fleet_watch(std::shared_ptr<detail::fleet_directory_core> core, fleet_filter filter,
                                           fleet_cursor cursor)
    : core_{std::move(core)}, filter_{std::move(filter)}, cursor_{std::move(cursor)} {
  core_->count_watch(1);
}

AGONES_ALLOC_DECL fleet_watch::~fleet_watch() {
  if (core_ != nullptr) core_->count_watch(-1);
}

AGONES_ALLOC_DECL auto fleet_watch::next(std::size_t limit, std::vector<fleet_event>& out) -> bool {
  return core_->look([&](fleet_book const& book, timer::wall_time wall) {
    return book.next(cursor_, filter_, limit, wall, out);
  });
}

AGONES_ALLOC_DECL void fleet_watch::wait(handler done) { core_->wait(cursor_, std::move(done)); }

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
