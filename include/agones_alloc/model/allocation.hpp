// GameServerAllocation of allocation.agones.dev/v1, exactly as on the wire (spec 1.3).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/game_server.hpp>
#include <agones_alloc/model/selector.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct priority {
  shared_string type;   ///< Counter, List
  shared_string key;
  shared_string order;  ///< Ascending, Descending (of *available* capacity, spec 5.3)
  friend auto operator==(priority const&, priority const&) -> bool = default;
};

/// Absent and zero differ: `amount: 0` is an action, no amount is none (spec 7.1).
struct counter_action {
  std::optional<shared_string> action;  ///< Increment, Decrement
  std::optional<std::int64_t> amount;
  std::optional<std::int64_t> capacity;
  friend auto operator==(counter_action const&, counter_action const&) -> bool = default;
};

struct list_action {
  std::vector<shared_string> add_values;
  std::vector<shared_string> delete_values;
  std::optional<std::int64_t> capacity;
  friend auto operator==(list_action const&, list_action const&) -> bool = default;
};

/// Labels and annotations put on the chosen server.
struct meta_patch {
  string_map labels;
  string_map annotations;
  auto empty() const noexcept -> bool { return labels.empty() && annotations.empty(); }
  friend auto operator==(meta_patch const&, meta_patch const&) -> bool = default;
};

struct multi_cluster_setting {
  bool enabled{false};
  label_selector policy_selector;
  friend auto operator==(multi_cluster_setting const&, multi_cluster_setting const&) -> bool = default;
};

struct allocation_spec {
  multi_cluster_setting multi_cluster;
  game_server_selector required;               ///< deprecated; unused when `selectors` is not empty
  std::vector<game_server_selector> preferred; ///< deprecated; the same
  std::optional<std::vector<priority>> priorities;  ///< presence counts (spec 2.4, rule 14)
  std::vector<game_server_selector> selectors;
  shared_string scheduling;                    ///< Packed, Distributed
  meta_patch metadata;
  std::optional<named_map<counter_action>> counters;  ///< presence counts (rule 15)
  std::optional<named_map<list_action>> lists;        ///< presence counts (rule 16)
  friend auto operator==(allocation_spec const&, allocation_spec const&) -> bool = default;
};

struct allocation_status {
  shared_string state;  ///< "", Allocated, UnAllocated, Contention
  shared_string game_server_name;
  std::vector<game_server_port> ports;
  shared_string address;
  std::vector<node_address> addresses;
  shared_string node_name;
  shared_string source;  ///< "local", or the remote endpoint
  std::optional<meta_patch> metadata;
  named_map<counter_status> counters;
  named_map<list_status> lists;
  friend auto operator==(allocation_status const&, allocation_status const&) -> bool = default;
};

struct game_server_allocation {
  shared_string kind;         ///< as it came; "" when absent
  shared_string api_version;  ///< the same
  object_meta meta;
  allocation_spec spec;
  allocation_status status;
  friend auto operator==(game_server_allocation const&, game_server_allocation const&) -> bool = default;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
