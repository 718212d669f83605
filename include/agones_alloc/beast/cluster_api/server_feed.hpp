// The game servers of a memory_store, for list and watch.
#pragma once

#include <agones_alloc/async/memory_store.hpp>
#include <agones_alloc/beast/cluster_api/object_feed.hpp>
#include <agones_alloc/config.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Versions and history are the store's. The store must outlive it.
class server_feed final : public object_feed {
 public:
  explicit server_feed(memory_store& store) : store_{&store} {}

  AGONES_ALLOC_DECL auto kind() const noexcept -> api_kind const& override;
  AGONES_ALLOC_DECL auto list() -> feed_list override;
  AGONES_ALLOC_DECL auto find(object_key const&) -> std::optional<api_object> override;
  AGONES_ALLOC_DECL auto changes_after(std::string_view, std::size_t most) -> result<feed_changes> override;
  AGONES_ALLOC_DECL void wait(std::string resource_version, waiter) override;

 private:
  memory_store* store_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/cluster_api/server_feed.ipp>
#endif
