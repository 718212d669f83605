// Events about game servers and fleets, to the sinks of --event-sink.
#pragma once

#include "event_state.hpp"
#include "options.hpp"

#include <agones_alloc/async/event_publisher.hpp>
#include <agones_alloc/beast/client/pooled_http_client.hpp>
#include <agones_alloc/port/logger.hpp>
#include <agones_alloc/port/random.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace agones_alloc_server {

/// Confined to the server's one thread. Does nothing without sinks.
class event_serving {
 public:
  using fleet_source = std::function<std::optional<std::vector<agones_alloc::fleet>>()>;

  event_serving(boost::asio::any_io_executor, server_options const&, agones_alloc::timer&, agones_alloc::random_source&,
                agones_alloc::logger&);
  ~event_serving();

  auto used() const noexcept -> bool { return publisher_ != nullptr; }
  /// Reads keys and certificates and makes the sinks; prints what is wrong. False: they cannot be used.
  auto prepare() -> bool;
  /// `fleets`: looked at now and then, if somebody wants their events; nothing while they are not known yet.
  void start(fleet_source fleets);
  /// Reads the keys of signatures, tokens and certificates again; a problem leaves the last ones in use.
  void look();

  /// Where the cache is fed: what it was given.
  void heard(agones_alloc::server_event const& event);
  void listed(std::vector<agones_alloc::game_server_ptr> const& all);

  /// Sends what waits; then, or at the deadline, `done`.
  void drain(agones_alloc::timer::time_point deadline, std::function<void()> done);
  void stop();

  auto counts() const -> std::vector<agones_alloc::event_channel_counts>;

 private:
  struct webhook;
  auto make_sink(event_sink_settings const&, std::string& problem) -> std::shared_ptr<agones_alloc::event_sink>;
  auto make_webhook(event_sink_settings const&, std::string& problem) -> std::shared_ptr<agones_alloc::event_sink>;
  void look_at_fleets();
  void keep_state();

  boost::asio::any_io_executor executor_;
  server_options const& options_;
  agones_alloc::timer& timer_;
  agones_alloc::random_source& random_;
  agones_alloc::logger& log_;
  fleet_source fleets_;
  std::vector<std::unique_ptr<webhook>> webhooks_;
  event_state state_;
  std::unique_ptr<agones_alloc::event_publisher> publisher_;
  bool listed_{false};
  bool stopped_{false};
};

}  // namespace agones_alloc_server
