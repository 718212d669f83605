// Asks game servers over the network whether players can join.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/port/readiness_probe.hpp>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/strand.hpp>

#include <cstddef>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// A connection of its own for each try. HTTP: `GET path`, of whose answer the status line is read and nothing else: 200 is ready, 4xx
/// failed, all else pending; a redirect is not followed. TCP: ready as soon as it is accepted. Event stream: `GET path` of HTTP/1.0,
/// so that it comes without chunks, read as ready_events says. A host that is a name is looked up. Thread safety: as its executor's; may be destroyed while tries are under way.
class socket_probe final : public readiness_probe {
 public:
  explicit socket_probe(boost::asio::any_io_executor executor) : strand_{boost::asio::make_strand(std::move(executor))}, own_{strand_} {}

  auto can(probe_target::protocol how) const noexcept -> bool override { return how != probe_target::protocol::grpc; }

  /// Of an answer the first bytes that are read, to find its first line in.
  static constexpr std::size_t most_bytes = 1024;

 private:
  AGONES_ALLOC_DECL void do_probe(probe_target, handler) override;

  boost::asio::any_io_executor strand_;  ///< of all tries: none of their steps takes long
  boost::asio::any_completion_executor own_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/async/socket_probe.ipp>
#endif
