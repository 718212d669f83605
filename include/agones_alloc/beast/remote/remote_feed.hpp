// One endpoint's fleets as a stream, whatever protocol it comes by.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/fleet_info.hpp>
#include <agones_alloc/port/remote_allocator.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <string>
#include <variant>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct remote_fleets_options;

/// Why a feed has ended.
struct remote_feed_end {
  int code{14};         ///< gRPC's: 14 not reached or lost, 12 no directory, 16 and 7 not for us, 8 too much, 13 not understood
  std::string message;
  bool soon{true};      ///< it may be different soon
  bool anew{false};     ///< what was told cannot be gone on from
};

/// Told on the feed's executor, never inside open() or close().
class remote_feed_listener {
 public:
  virtual ~remote_feed_listener() = default;
  virtual void opened() = 0;                                       ///< it answers: events follow
  virtual void reset() = 0;                                        ///< the state follows anew
  virtual void synced(std::string token) = 0;                      ///< the state is complete
  virtual void changed(fleet_info, std::string const& token) = 0;  ///< it is like this now; its cluster is as the other calls itself
  virtual void removed(fleet_info key, std::string const& token) = 0;
  virtual void ended(remote_feed_end) = 0;                          ///< the last word, unless it is opened again
};

/// Asks for the endpoint's own cluster only, as a forwarder does, one hop on. A stream that is silent for
/// `remote_fleets_options::silence`, or an event over `event_bytes`, ends it. Confined to its executor.
class remote_feed {
 public:
  virtual ~remote_feed() = default;
  /// From a token on; "": from the beginning. Not while it is open.
  virtual void open(std::string token, std::weak_ptr<remote_feed_listener>) = 0;
  /// For good; nothing more is told.
  virtual void close() = 0;
};

/// Where a feed comes from, and with what.
struct remote_feed_place {
  std::string endpoint;
  std::string server_name;
  credential_reference credentials;
};

/// Port: makes feeds of one protocol. Must outlive them. Called on the executor that it is given.
class remote_feeds {
 public:
  virtual ~remote_feeds() = default;
  /// Or what is wrong with the place, in words.
  virtual auto make(boost::asio::any_io_executor, remote_feed_place const&, remote_fleets_options const&)
      -> std::variant<std::shared_ptr<remote_feed>, std::string> = 0;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
