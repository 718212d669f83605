// List and watch of one kind, in this process.
#pragma once

#include <agones_alloc/beast/cluster_api/api_object.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/error.hpp>

#include <boost/asio/any_completion_handler.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Changes are kept in one history for everybody, of bounded length: a watcher holds its place in it and nothing else.
/// Confined to one executor.
class object_feed {
 public:
  using waiter = boost::asio::any_completion_handler<void(error_code)>;

  virtual ~object_feed() = default;
  virtual auto kind() const noexcept -> api_kind const& = 0;

  virtual auto list() -> feed_list = 0;
  virtual auto find(object_key const&) -> std::optional<api_object> = 0;
  /// At most `most` changes after a version, in order; none: there are none yet. Error: errc::too_old, also for
  /// versions that are none of this feed's.
  virtual auto changes_after(std::string_view resource_version, std::size_t most) -> result<feed_changes> = 0;
  /// Completes when there may be changes after that version. Errors: errc::cancelled; errc::too_many_requests.
  /// Cancellation: terminal.
  virtual void wait(std::string resource_version, waiter) = 0;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
