// The certificates of an HTTPS server: from files, and again when they change.
#pragma once

#include <agones_alloc/beast/tls/server_context.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/logger.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// What clients are asked for.
enum class client_verification : std::uint8_t {
  none,      ///< nothing, unless a front proxy is trusted, which is then asked
  optional,  ///< a certificate; a client without one is served all the same
  required,  ///< a certificate; the handshake of a client without one fails
};

struct tls_server_options {
  std::filesystem::path certificate;  ///< PEM: the server's, then those that lead to its authority
  std::filesystem::path key;          ///< PEM, not encrypted
  /// PEM files with authorities, or folders of *.crt and *.pem files; a file of a folder that holds no certificate is
  /// logged and left out. None in all of them: no certificate is accepted (spec 8.11).
  std::vector<std::filesystem::path> client_authorities{};
  client_verification clients{client_verification::none};
  std::chrono::nanoseconds look_every{std::chrono::seconds{10}};  ///< at the files, for changes
};

namespace detail {
class tls_server_state;
}

/// Holds one bundle at a time and replaces it as a whole (Q40): a new handshake uses the newest, connections keep
/// theirs. Files that cannot be used leave the last good bundle in use, which is logged once a problem; they are tried
/// again at each look. A file is read whole, at most 1 MiB, which blocks for as long as that takes.
///
/// Thread safety: confined to the executor. Timer and logger must outlive it; it must outlive the listeners that use
/// it.
class tls_server {
 public:
  /// Throws std::invalid_argument for a look_every that is not positive.
  AGONES_ALLOC_DECL tls_server(boost::asio::any_io_executor, timer&, tls_server_options, logger* = nullptr);
  AGONES_ALLOC_DECL ~tls_server();
  tls_server(tls_server const&) = delete;
  auto operator=(tls_server const&) -> tls_server& = delete;

  /// Reads the files for the first time: "", or what is wrong with which file.
  AGONES_ALLOC_DECL auto load() -> std::string;
  /// Looks for changes from now on. Ends with `stop` or its destruction.
  AGONES_ALLOC_DECL void start();
  AGONES_ALLOC_DECL void stop();
  /// Looks now, whatever the time. False: what is there cannot be used.
  AGONES_ALLOC_DECL auto look() -> bool;

  /// Also accepts certificates of these authorities, in PEM, and marks them (client_certificate::by_front_proxy).
  /// False, with the last ones in use, when they cannot be read. "": none any more.
  AGONES_ALLOC_DECL auto trust_front_proxy(std::string authorities) -> bool;

  /// For those who make connections of their own: called with what is in use, now where there is something, and again each
  /// time something else is put to use, on the executor. The last one that was given counts.
  AGONES_ALLOC_DECL void on_change(std::function<void(detail::tls_bundle const&)> told);

  /// Counts the bundles that were put to use: 1 after `load`.
  AGONES_ALLOC_DECL auto version() const noexcept -> std::uint64_t;
  /// For connections; null before `load`.
  AGONES_ALLOC_DECL auto current() const noexcept -> std::shared_ptr<detail::server_context>;

 private:
  std::shared_ptr<detail::tls_server_state> state_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/tls/tls_server.ipp>
#endif
