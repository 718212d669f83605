// Events that wait for one sink: in order, bounded, merged before any is dropped.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/object_event.hpp>

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct event_queue_options {
  std::size_t events{100'000};             ///< that wait, at least 1
  std::size_t bytes{256UL * 1024 * 1024};  ///< that they hold (held_bytes), at least 1
  std::size_t merge_from{10'000};          ///< with so many waiting or more, an event joins one of its object
};

/// What was pushed is waiting, was taken, or is one of these.
struct event_queue_counts {
  std::uint64_t merged{0};   ///< became part of another event about its object
  std::uint64_t dropped{0};  ///< nobody will hear of it: the queue was full
};

/// What becomes of two events about one object: the newest value, told as the change of the two that says more: deleted
/// before allocated and released (the later one of these), those before added, that before updated.
///
/// When the queue is full: events of objects that have several are merged, one each being left; if nothing is left to merge,
/// the oldest event goes. So with room for one event for each object nothing is ever dropped.
/// Not thread-safe. No operation but the merging of a full queue costs more than O(1), and that frees what it touches.
class event_queue {
 public:
  explicit event_queue(event_queue_options options = {}) : options_{options} {}

  AGONES_ALLOC_DECL void push(object_event);
  /// The oldest events, up to that many and, but for the first, so many held bytes. Ends before an event about an object
  /// that is in hand. Their objects are in hand until `let_go`.
  AGONES_ALLOC_DECL auto take(std::size_t most, std::size_t most_bytes) -> std::vector<object_event>;
  AGONES_ALLOC_DECL void let_go(object_event const&);

  auto size() const noexcept -> std::size_t { return waiting_.size(); }
  auto bytes() const noexcept -> std::size_t { return bytes_; }
  auto counts() const noexcept -> event_queue_counts const& { return counts_; }
  /// Whether `take` would give something.
  AGONES_ALLOC_DECL auto can_take() const -> bool;
  /// `see(object_event const&)`, oldest first.
  template <class See>
  void visit(See see) const {
    for (auto const& one : waiting_) see(one.event);
  }

 private:
  struct node {
    object_event event;
    object_identity about;
    std::size_t bytes{0};
  };
  using order = std::list<node>;
  struct place {
    std::optional<order::iterator> last;  ///< the newest that waits
    std::uint32_t waiting{0};
    std::uint32_t in_hand{0};
  };
  using table = boost::unordered_flat_map<object_identity, place, object_identity_hash>;

  auto too_full() const noexcept -> bool { return waiting_.size() > options_.events || bytes_ > options_.bytes; }
  void merge(node& into, object_event&& newer);
  void merge_all();
  void drop_oldest();

  event_queue_options options_;
  order waiting_;
  table objects_;
  std::size_t bytes_{0};
  std::size_t repeats_{0};  ///< waiting events beyond the first of their object
  event_queue_counts counts_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/flow/event_queue.ipp>
#endif
