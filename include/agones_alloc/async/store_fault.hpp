// Trouble on demand: what a memory_store does wrong, and when.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/meta.hpp>
#include <agones_alloc/port/random.hpp>

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

enum class store_operation : std::uint8_t { update, read, list, watch };

struct store_fault {
  enum class kind : std::uint8_t {
    none,
    unavailable,        ///< errc::unavailable, not executed
    too_many_requests,  ///< errc::too_many_requests with `retry_after`, not executed
    conflict,           ///< errc::conflict, not executed (updates only)
    refused,            ///< errc::refused with `server_code` and `server_message`, not executed
    lost_before,        ///< errc::outcome_unknown, not executed
    lost_after,         ///< errc::outcome_unknown, executed all the same
    too_old,            ///< errc::too_old (watches only)
  };
  kind what{kind::none};
  std::chrono::nanoseconds before{0};  ///< travel time of the request; needs memory_store_options::clock
  std::chrono::nanoseconds after{0};   ///< travel time of the answer; the same
  std::chrono::nanoseconds retry_after{0};
  int server_code{403};
  std::string server_message{};
  bool lose_event{false};  ///< the write is made, but no watch hears of it (updates only)
};

/// Asked once per operation, under the store's lock: must be quick, must not call the store.
class fault_plan {
 public:
  virtual ~fault_plan() = default;
  /// `key` is empty for lists and watches.
  virtual auto next(store_operation, object_key const& key) -> store_fault = 0;
};

/// Faults in the order given, each for the next operation of its kind; none when the script has ended.
/// Thread safety: fill it before the store sees it, or from the store's executor.
class scripted_faults final : public fault_plan {
 public:
  auto add(store_operation operation, store_fault fault) -> scripted_faults& {
    script_.push_back({operation, std::move(fault)});
    return *this;
  }
  auto empty() const noexcept -> bool { return script_.empty(); }
  AGONES_ALLOC_DECL auto next(store_operation, object_key const&) -> store_fault override;

 private:
  struct entry {
    store_operation operation;
    store_fault fault;
  };
  std::deque<entry> script_;
};

/// Probabilities, each 0 to 1, tried in this order; latencies are uniform from 0 to the given maximum.
struct fault_rates {
  double unavailable{0};
  double conflict{0};
  double refused{0};
  double lost_before{0};
  double lost_after{0};
  double lose_event{0};
  std::chrono::nanoseconds latency{0};
};

/// The same faults for the same seed and the same order of operations.
class seeded_faults final : public fault_plan {
 public:
  seeded_faults(std::uint64_t seed, fault_rates rates) : random_{seed}, rates_{rates} {}
  AGONES_ALLOC_DECL auto next(store_operation, object_key const&) -> store_fault override;

 private:
  seeded_random random_;
  fault_rates rates_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/async/store_fault.ipp>
#endif
