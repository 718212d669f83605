// Embedded fleets as a small Kubernetes cluster: what kubectl and clients of its API may see and do.
#pragma once

#include <agones_alloc/async/memory_store.hpp>
#include <agones_alloc/beast/cluster_api/api_answer.hpp>
#include <agones_alloc/beast/cluster_api/event_book.hpp>
#include <agones_alloc/beast/cluster_api/fleet_feed.hpp>
#include <agones_alloc/beast/cluster_api/list_pages.hpp>
#include <agones_alloc/beast/cluster_api/served_path.hpp>
#include <agones_alloc/beast/cluster_api/server_feed.hpp>
#include <agones_alloc/beast/cluster_api/watch_stream.hpp>
#include <agones_alloc/beast/http_handler.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/embedded/embedded_cluster.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct cluster_api_options {
  std::size_t watches{256};         ///< at once; one more: 429
  watch_options watch{};            ///< `length` is the most of one, and what it gets without timeoutSeconds
  std::size_t kept_lists{16};       ///< lists that are read page by page, at once
  std::chrono::nanoseconds kept_list_time{std::chrono::minutes{5}};  ///< since its last page was asked for
  std::int64_t max_replicas{1'000'000};  ///< of a fleet, for what is only tried; the simulator has the last word
  fleet_feed_options fleets{};
  event_book const* events{nullptr};  ///< null: there are none
  /// Whether the request's sender may see and change that namespace ("": all); else 403. Empty: everybody may who got
  /// through.
  std::function<bool(http_request const&, std::string_view)> may_use{};
};

/// `/api`, `/apis`, `/version`, OpenAPI v3, and in agones.dev/v1 fleets and gameservers: get, list (pages, label and field
/// selectors, Tables), watch (as objects and Tables, bookmarks, 410), fleets/scale (get, update, patch), deletion of one
/// game server, which the fleet replaces; in v1 a list of Events. Dry runs change nothing. Everything else of a Kubernetes API gets a Status that
/// says what there is. Requests for allocations and all other paths go on to `others`.
///
/// Thread safety: confined to the executor, the listener's. What it is given must outlive it and its requests.
class cluster_front_end final : public http_handler {
 public:
  AGONES_ALLOC_DECL cluster_front_end(boost::asio::any_io_executor, memory_store&, embedded_cluster&, timer&,
                                      http_handler& others, cluster_api_options = {});
  AGONES_ALLOC_DECL void handle(http_request const&, reply) override;

  /// Watches that are open.
  auto watches() const noexcept -> std::size_t { return static_cast<std::size_t>(seats_.use_count() - 1); }

 private:
  struct served_kind {
    object_feed* feed;
    list_pages* pages;
  };

  AGONES_ALLOC_DECL auto answer(http_request const&) -> std::optional<http_response>;
  auto about_objects(http_request const&, served_path const&) -> http_response;
  auto collection(http_request const&, served_path const&, served_kind) -> http_response;
  auto watch(served_path const&, served_kind, list_query, accepted_form) -> http_response;
  auto one(http_request const&, served_path const&, served_kind) -> http_response;
  auto scale(http_request const&, served_path const&) -> http_response;
  auto remove(http_request const&, served_path const&) -> http_response;
  auto events(http_request const&, std::string_view space) -> http_response;
  auto is_permitted(http_request const&, std::string_view space) const -> bool;
  auto now() const -> timestamp { return std::chrono::floor<std::chrono::seconds>(time_->wall_now()); }

  boost::asio::any_io_executor executor_;
  memory_store* store_;
  embedded_cluster* cluster_;
  timer* time_;
  http_handler* others_;
  cluster_api_options options_;
  event_book no_events_;
  server_feed servers_;
  fleet_feed fleets_;
  list_pages server_pages_;
  list_pages fleet_pages_;
  std::shared_ptr<int> seats_{std::make_shared<int>()};  ///< each open watch has a copy
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/cluster_api/cluster_front_end.ipp>
#include <agones_alloc/impl/beast/cluster_api/cluster_writes.ipp>
#endif
