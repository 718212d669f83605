// Asks game servers over the network whether players can join.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/port/readiness_probe.hpp>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <memory>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {
class kept_connections;
}

/// HTTP: `GET path`, of whose answer the status line says: 200 is ready, 4xx failed, all else pending; a redirect is not followed. When
/// the target has an id and an `until`, and the answer allows it (rest_of_answer), its connection is kept until then for the next try of the same
/// address, port and id; never after `ready`. A kept one that turns out to be closed, before a byte of an answer, is replaced within the
/// same try. TCP: ready as soon as it is accepted. Event stream: `GET path` of HTTP/1.0, so that it comes without chunks, read as ready_events says.
/// A host that is a name is looked up. Thread safety: as its executor's; may be destroyed while tries are under way.
class socket_probe final : public readiness_probe {
 public:
  /// `max_kept`: connections that are kept at once, one descriptor each; 0: none.
  AGONES_ALLOC_DECL explicit socket_probe(boost::asio::any_io_executor executor, std::size_t max_kept = default_max_kept);
  AGONES_ALLOC_DECL ~socket_probe() override;
  socket_probe(socket_probe const&) = delete;
  auto operator=(socket_probe const&) -> socket_probe& = delete;

  auto can(probe_target::protocol how) const noexcept -> bool override { return how != probe_target::protocol::grpc; }

  static constexpr std::size_t default_max_kept = 10'000;
  /// Of an answer so many bytes are read at most.
  static constexpr std::size_t most_bytes = 1024;

 private:
  AGONES_ALLOC_DECL void do_probe(probe_target, handler) override;

  boost::asio::any_io_executor strand_;  ///< of all tries: none of their steps takes long
  boost::asio::any_completion_executor own_;
  std::shared_ptr<detail::kept_connections> kept_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/async/socket_probe.ipp>
#endif
