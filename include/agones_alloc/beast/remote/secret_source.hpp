// Port: Secrets by name.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/error.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <map>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct secret_data {
  std::map<std::string, std::string, std::less<>> entries;  ///< decoded bytes, by key
  std::string problem;  ///< on failure: why, in words, never contents
};

/// `kubernetes_secrets` and `folder_secrets`, or the user's own. Never lists, only gets what is named (Q30).
/// Errors: errc::not_found, errc::refused, errc::unavailable, errc::malformed, errc::cancelled. Cancellation: terminal.
/// Completion never runs inside the initiating function. Thread safety: initiated from one executor at a time.
class secret_source {
 public:
  using handler = boost::asio::any_completion_handler<void(error_code, secret_data)>;

  virtual ~secret_source() = default;

  /// Handler signature: void(error_code, secret_data).
  template <class Token = boost::asio::deferred_t>
  auto async_get(std::string namespace_, std::string name, Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(error_code, secret_data)>(
        [this](auto h, std::string ns, std::string n) { do_get(std::move(ns), std::move(n), handler{std::move(h)}); },
        token, std::move(namespace_), std::move(name));
  }

 private:
  virtual void do_get(std::string namespace_, std::string name, handler) = 0;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
