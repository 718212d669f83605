#pragma once

#include <agones_alloc/cache/index/index_core.hpp>
#include <agones_alloc/cache/ranked_index.hpp>

#include <memory>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL ranked_index::ranked_index(ready_cache& cache, index_options options)
    : core_{std::make_unique<detail::index_core>(cache, options)} {}
AGONES_ALLOC_DECL ranked_index::~ranked_index() = default;

AGONES_ALLOC_DECL auto ranked_index::drain() -> bool { return core_->drain(); }
AGONES_ALLOC_DECL auto ranked_index::build_some() -> bool { return core_->build_some(); }
AGONES_ALLOC_DECL auto ranked_index::pick_and_claim(allocation_request const& request, random_source& random, pick& out,
                                                    std::size_t shapes) -> pick_status {
  return core_->pick_and_claim(request, random, out, shapes);
}
AGONES_ALLOC_DECL void ranked_index::put_back(server_handle handle) { core_->put_back(handle); }
AGONES_ALLOC_DECL void ranked_index::settle(server_handle handle, game_server_ptr written,
                                              detail::written_claim const* claim) {
  core_->settle(handle, std::move(written), claim);
}
AGONES_ALLOC_DECL void ranked_index::discard(server_handle handle) { core_->discard(handle); }
AGONES_ALLOC_DECL void ranked_index::remove(server_handle handle) { core_->remove(handle); }
AGONES_ALLOC_DECL auto ranked_index::take_waiter(view_shape const& shape) -> std::optional<std::uint64_t> {
  return core_->take_waiter(shape);
}
AGONES_ALLOC_DECL auto ranked_index::look(allocation_request const& request, std::size_t names, room_report& out) -> bool {
  return core_->look(request, names, out);
}
AGONES_ALLOC_DECL auto ranked_index::explain(allocation_request const& request) -> breakdown {
  return core_->explain(request);
}
AGONES_ALLOC_DECL void ranked_index::watch(allocation_request const& request, std::uint64_t token, bool patient) {
  core_->watch(request, token, patient);
}
AGONES_ALLOC_DECL void ranked_index::unwatch(std::uint64_t token) { core_->unwatch(token); }
AGONES_ALLOC_DECL void ranked_index::take_woken(std::vector<std::uint64_t>& out) { core_->take_woken(out); }
AGONES_ALLOC_DECL auto ranked_index::may_wake() const noexcept -> bool { return core_->may_wake(); }
AGONES_ALLOC_DECL auto ranked_index::has_room_to_watch(allocation_request const& request, std::size_t most) const -> bool {
  return core_->has_room_to_watch(request, most);
}
AGONES_ALLOC_DECL auto ranked_index::load_of(std::string_view node) const -> std::optional<node_load> {
  return core_->load_of(node);
}
AGONES_ALLOC_DECL auto ranked_index::claims() noexcept -> detail::claim_book& { return core_->claims(); }
AGONES_ALLOC_DECL auto ranked_index::slot_of_claim(std::string_view ns, std::string_view id, std::size_t hash) const
    -> std::optional<std::uint32_t> {
  return core_->slot_of_claim(ns, id, hash);
}
AGONES_ALLOC_DECL auto ranked_index::statistics() const -> index_statistics { return core_->statistics(); }

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/cache/index_changes.ipp>
#include <agones_alloc/impl/cache/index_explain.ipp>
#include <agones_alloc/impl/cache/index_look.ipp>
#include <agones_alloc/impl/cache/index_pick.ipp>
#include <agones_alloc/impl/cache/index_views.ipp>
#include <agones_alloc/impl/cache/index_waiting.ipp>
#endif
