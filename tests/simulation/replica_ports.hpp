// What a replica sees of the API server: through a network that delays, loses and reorders.
#pragma once

#include "api_server.hpp"
#include "world.hpp"

#include <agones_alloc/port/server_source.hpp>
#include <agones_alloc/port/store.hpp>
#include <agones_alloc/port/timer.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace simulation {

/// A server as a replica sees it: as it is, unless the mutation makes it otherwise.
auto as_seen(world const&, game_server_ptr) -> game_server_ptr;

/// One replica's way to write and read. Requests that were sent outlive it.
class replica_store final : public store {
 public:
  struct hooks {
    std::function<void(update_request const&, bool again)> sending;  ///< a write leaves the replica
    std::function<void()> delivered;                      ///< an answer has arrived
    std::function<void(object_key const&)> not_written;   ///< an answer of `unavailable` has arrived, about that server
    std::function<timer::time_point()> now;               ///< by the replica's clock
  };

  replica_store(world& w, api_server& api, std::string name, hooks h)
      : world_{w}, api_{api}, name_{std::move(name)}, hooks_{std::make_shared<hooks>(std::move(h))} {}
  ~replica_store() override { drop(); }

  auto pending() const -> std::size_t;
  /// The process is gone: no answer reaches it.
  void drop();

 private:
  struct call;
  using call_ptr = std::shared_ptr<call>;

  void do_update(update_request, store::handler) override;
  void do_read(object_key, store::handler) override;
  auto begin(store::handler) -> call_ptr;
  void send(call_ptr const&, nanos way, std::function<std::pair<error_code, game_server_ptr>()> execute, bool writes);
  void answer(call_ptr const&, nanos way, error_code, game_server_ptr = nullptr);
  auto way() -> nanos;

  world& world_;
  api_server& api_;
  std::string name_;
  std::shared_ptr<hooks> hooks_;
  std::vector<std::weak_ptr<call>> calls_;
  std::map<std::string, nanos> decided_;  ///< by the stamp of an allocation
};

/// One replica's list and watch.
class replica_feed final : public server_source {
 public:
  replica_feed(world& w, api_server& api, std::function<void()> delivered) : core_{std::make_shared<core>(w, api, std::move(delivered))} {}
  ~replica_feed() override { drop(); }

  /// Something has changed in the API server.
  void nudge() { core::nudge(core_); }
  /// Everything up to this version is in the replica's cache.
  auto seen() const noexcept -> std::uint64_t { return core_->position; }
  void drop();

 private:
  struct core {
    core(world& w, api_server& api, std::function<void()> d) : world_{w}, api_{api}, delivered{std::move(d)} {}
    static void nudge(std::shared_ptr<core> const&);
    void deliver();
    auto spoil(server_events) -> server_events;

    world& world_;
    api_server& api_;
    std::function<void()> delivered;
    std::uint64_t position{0};
    std::vector<watch_handler> watching;  ///< one at most: erased handlers cannot be assigned
    std::vector<list_handler> listing;
    bool scheduled{false};
  };

  void do_list(list_handler) override;
  void do_watch(std::string, watch_handler) override;

  std::shared_ptr<core> core_;
};

}  // namespace simulation
