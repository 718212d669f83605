// A copy of all objects of one kind, kept in step with an API server.
#pragma once

#include <agones_alloc/beast/kubernetes/kubernetes_watch.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/flow/backoff.hpp>
#include <agones_alloc/port/random.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct kubernetes_mirror_options {
  kubernetes_watch_options watch{};
  backoff_options retry{backoff_options::endless(std::chrono::milliseconds{100}, std::chrono::seconds{5})};
  /// After the copy changed, in the mirror's turn; must not throw. For many changes at once, as a list brings, once.
  std::function<void()> on_change{};
  /// For each object that a watch has told of, after the copy changed; must not throw. With it, on_change tells of lists alone.
  std::function<void(object_key const&)> on_object{};
};

namespace detail {
template <class Kind>
class mirror_core;
}

/// For kinds of which there are few: fleets, policies, nodes (kubernetes_kinds.hpp). Game servers have the reflector
/// and the ready cache. Lists, watches from there, lists again when the watch is too old, and waits after failures; a
/// list takes the place of the copy in one piece.
///
/// Thread safety: all functions from any thread. Destroying it stops. Client, timer, random source and logger must
/// outlive it and, once it is destroyed, what is pending then.
template <class Kind>
class kubernetes_mirror {
 public:
  using object = typename Kind::object;
  using pointer = std::shared_ptr<object const>;

  /// Throws std::invalid_argument for options out of range.
  kubernetes_mirror(boost::asio::any_io_executor, http_client&, timer&, random_source&, kubernetes_mirror_options = {});
  ~kubernetes_mirror();
  kubernetes_mirror(kubernetes_mirror const&) = delete;
  auto operator=(kubernetes_mirror const&) -> kubernetes_mirror& = delete;

  /// Begins to list. Once; later calls do nothing.
  void start();
  /// Ends every wait; the copy stays. For good.
  void stop();
  auto synced() const noexcept -> bool;  ///< from the first complete list on
  auto find(object_key const&) const -> pointer;     ///< null when there is none
  auto snapshot() const -> std::vector<pointer>;     ///< by namespace and name
  auto size() const -> std::size_t;

 private:
  std::shared_ptr<detail::mirror_core<Kind>> core_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#include <agones_alloc/impl/beast/kubernetes/kubernetes_mirror.hpp>
