// One connection to a NATS server, and batches that a stream acknowledges. Blocks.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/object_event.hpp>
#include <agones_alloc/nats/nats_sink.hpp>

#include <nats/nats.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

template <auto Destroy>
struct nats_deleter {
  template <class T>
  void operator()(T* object) const noexcept {
    Destroy(object);
  }
};
template <class T, auto Destroy>
using nats_owner = std::unique_ptr<T, nats_deleter<Destroy>>;

/// What a stream said about one event.
enum class stream_word : std::uint8_t { none, stored, again, refused };

/// From the message that answers a publication.
AGONES_ALLOC_DECL auto read_stream_word(std::string_view answer, std::string& reason) -> stream_word;

/// Confined to one thread.
class nats_connection {
 public:
  /// `connecting` is set while it is in the library's connect, which waits without end for a server that stands still after its first words.
  nats_connection(nats_options const& options, std::atomic<bool>& connecting) : options_{options}, connecting_{connecting} {}

  /// `patient` says whether to go on waiting; it is asked at least ten times a second.
  AGONES_ALLOC_DECL auto send(event_batch const&, std::function<bool()> const& patient) -> delivery_report;

 private:
  using connection = nats_owner<natsConnection, natsConnection_Destroy>;
  using subscription = nats_owner<natsSubscription, natsSubscription_Destroy>;

  auto connect(std::function<bool()> const& patient) -> natsStatus;
  auto publish(event_batch const&, std::string const& inbox) -> natsStatus;
  auto gather(natsSubscription*, std::string const& inbox, std::vector<stream_word>&, std::function<bool()> const& patient,
              std::string& reason) -> natsStatus;

  nats_options const& options_;
  std::atomic<bool>& connecting_;
  connection connection_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/nats/detail/nats_connection.ipp>
#endif
