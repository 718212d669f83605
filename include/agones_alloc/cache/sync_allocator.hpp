// Allocation for programs with one thread and no event loop: pick, write it yourself, commit.
#pragma once

#include <agones_alloc/cache/ranked_index.hpp>
#include <agones_alloc/cache/ready_cache.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/model/outcome.hpp>
#include <agones_alloc/port/random.hpp>
#include <agones_alloc/select/apply.hpp>
#include <agones_alloc/select/request.hpp>

#include <chrono>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// A server that was taken for a request and is to be written.
struct claimed_server {
  pick claim;               ///< the claimed value, its handle, the selector it matched
  game_server_ptr desired;  ///< the same with the request applied (spec 7), on the same resource version
  action_report report;     ///< action errors; they never fail an allocation
};

enum class sync_outcome : std::uint8_t {
  claimed,     ///< end the claim with commit, put_back, conflict or remove
  contention,  ///< servers that match are claimed, and none is free
  exhausted,   ///< nothing matches
};

/// Exactly the rules of `allocator`, without waiting: the caller writes, retries and keeps the time.
/// Owns the cache's index: one of it, or one allocator, per cache. Not thread-safe; the cache may be fed by
/// other threads. The cache and the random source must outlive it.
class sync_allocator {
 public:
  explicit sync_allocator(ready_cache& cache, random_source& random, index_options options = {})
      : random_{random}, index_{cache, options} {}

  /// Claims the first server in the request's order and applies the request to a copy. The first use of a
  /// request shape looks at the whole cache; later ones do not. `out` is set when claimed.
  AGONES_ALLOC_DECL auto claim(allocation_request const&, std::chrono::sys_time<std::chrono::nanoseconds> now,
                               claimed_server& out) -> sync_outcome;

  /// The write was acknowledged as `written`. Null, for programs that keep no other store: `desired` is what counts.
  AGONES_ALLOC_DECL void commit(claimed_server const&, game_server_ptr written = nullptr);
  /// Nothing was written: what was claimed is free again.
  void put_back(claimed_server const& server) { index_.put_back(server.claim.handle); }
  /// Another writer was faster: free again as soon as something newer is stored.
  void conflict(claimed_server const& server) { index_.discard(server.claim.handle); }
  /// The server is gone.
  void remove(claimed_server const& server) { index_.remove(server.claim.handle); }

  /// How many servers remain after each clause.
  auto explain(allocation_request const& request) -> breakdown { return index_.explain(request); }

 private:
  random_source& random_;
  ranked_index index_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/cache/sync_allocator.ipp>
#endif
