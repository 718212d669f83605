// Port: list and watch of game servers, as a Kubernetes API offers it.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/error.hpp>
#include <agones_alloc/model/game_server.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct server_list {
  std::vector<game_server_ptr> servers;
  std::string resource_version;  ///< where a watch goes on from here
};

struct server_event {
  enum class kind : std::uint8_t { added, modified, deleted };
  kind what{kind::modified};
  game_server_ptr server;  ///< for `deleted`, the last state known; only key and uid are certain
};

struct server_events {
  std::vector<server_event> events;
  std::string resource_version;  ///< where the next watch goes on from
  bool whole{true};              ///< false: a part of the source is not heard at present
};

/// Errors of async_watch: errc::too_old when `resource_version` was compacted (list again); other
/// codes end this wait and may be tried again. Cancellation: terminal. Initiated from one executor.
class server_source {
 public:
  using list_handler = boost::asio::any_completion_handler<void(error_code, server_list)>;
  using watch_handler = boost::asio::any_completion_handler<void(error_code, server_events)>;

  virtual ~server_source() = default;

  template <class Token = boost::asio::deferred_t>
  auto async_list(Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(error_code, server_list)>(
        [this](auto h) { do_list(list_handler{std::move(h)}); }, token);
  }

  /// Completes with the next events after `resource_version`, one or more, in order. After an error an answer without events
  /// may say that the source is heard again.
  template <class Token = boost::asio::deferred_t>
  auto async_watch(std::string resource_version, Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(error_code, server_events)>(
        [this](auto h, std::string from) { do_watch(std::move(from), watch_handler{std::move(h)}); }, token,
        std::move(resource_version));
  }

 private:
  virtual void do_list(list_handler) = 0;
  virtual void do_watch(std::string, watch_handler) = 0;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
