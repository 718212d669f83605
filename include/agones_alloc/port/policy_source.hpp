// Port: where the policies for several clusters come from.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/policy.hpp>

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Policies change while requests run: each request goes by those of its start. Thread safety: any thread.
class policy_source {
 public:
  virtual ~policy_source() = default;
  /// All of all namespaces; never null. Cheap.
  virtual auto policies() const -> policies_ptr = 0;
};

/// Policies that stay until somebody replaces them.
class policy_list final : public policy_source {
 public:
  explicit policy_list(std::vector<game_server_allocation_policy> first = {}) { replace(std::move(first)); }

  auto policies() const -> policies_ptr override {
    std::lock_guard const lock{mutex_};
    return current_;
  }
  /// For requests from now on.
  void replace(std::vector<game_server_allocation_policy> next) {
    auto made = std::make_shared<std::vector<game_server_allocation_policy> const>(std::move(next));
    std::lock_guard const lock{mutex_};
    current_.swap(made);
  }

 private:
  mutable std::mutex mutex_;
  policies_ptr current_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
