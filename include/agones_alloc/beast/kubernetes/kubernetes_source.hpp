// The game servers of a Kubernetes API server, for a reflector.
#pragma once

#include <agones_alloc/beast/kubernetes/kubernetes_kinds.hpp>
#include <agones_alloc/beast/kubernetes/kubernetes_watch.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/server_source.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// A `kubernetes_watch` of game servers as the port that the reflector takes; all that is said there holds. Of one
/// namespace or of all; several: one source for each, and a `merged_source`.
class kubernetes_source final : public server_source {
 public:
  /// Throws std::invalid_argument for options out of range.
  AGONES_ALLOC_DECL kubernetes_source(boost::asio::any_io_executor, http_client&, timer&,
                                      kubernetes_watch_options = {});

 private:
  AGONES_ALLOC_DECL void do_list(list_handler) override;
  AGONES_ALLOC_DECL void do_watch(std::string, watch_handler) override;

  kubernetes_watch<game_server_kind> watch_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/kubernetes/kubernetes_source.ipp>
#endif
