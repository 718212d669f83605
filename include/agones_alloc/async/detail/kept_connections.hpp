// Connections to game servers that are kept between one check and the next.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/port/readiness_probe.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// One of each server that is asked, for one wait (its address, port and id) and for so long as its target says: each is idle, with nothing
/// under way on it, and is given out once. Beyond `most` no further one is kept; when descriptors run out the one that has been idle longest goes first.
/// Thread safety: none; everything on the executor, a strand.
class kept_connections : public std::enable_shared_from_this<kept_connections> {
 public:
  using socket = boost::asio::ip::tcp::socket;

  kept_connections(boost::asio::any_io_executor const& strand, std::size_t most) : sweep_{strand}, most_{most} {}

  /// nullopt: there is none, or none that can be used any more.
  AGONES_ALLOC_DECL auto take(probe_target const&) -> std::optional<socket>;
  /// Until the target's `until`, or a second longer.
  AGONES_ALLOC_DECL void keep(probe_target const&, socket);
  /// Closes so many. False: there was none.
  AGONES_ALLOC_DECL auto drop_oldest(std::size_t count) -> bool;
  /// All go, and from now on none is kept.
  AGONES_ALLOC_DECL void close();

 private:
  struct idle {
    std::string key;
    socket open;
    std::chrono::steady_clock::time_point until;
  };
  using place = std::list<idle>::iterator;

  static auto key_of(probe_target const&) -> std::string;
  void drop(place);
  void sweep_later();
  void sweep();

  static constexpr std::chrono::seconds every{1};

  std::list<idle> idle_;  ///< oldest first
  std::unordered_map<std::string, place> by_key_;
  boost::asio::steady_timer sweep_;
  std::size_t most_;
  bool sweeping_{false};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/async/detail/kept_connections.ipp>
#endif
