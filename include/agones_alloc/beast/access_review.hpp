// Port: who holds a token, and who may allocate where.
#pragma once

#include <agones_alloc/beast/caller_identity.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/error.hpp>

#include <boost/asio/any_completion_handler.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct access_answer {
  bool allowed{false};
  std::string reason;  ///< for people; may be ""
};

/// `access_reviewer` asks an API server.
class access_review {
 public:
  using identity_handler = boost::asio::any_completion_handler<void(error_code, std::optional<caller_identity>)>;
  using access_handler = boost::asio::any_completion_handler<void(error_code, access_answer)>;

  virtual ~access_review() = default;

  /// Whose bearer token it is; nullopt: nobody's, or it is no longer good. Completes once, inside or after the call, on
  /// the implementation's executor. Errors, with which nothing is known: errc::unavailable, errc::too_many_requests,
  /// errc::refused (this program may not ask), errc::malformed.
  virtual void authenticate(std::string_view token, identity_handler) = 0;

  /// Whether the caller may create game server allocations in the namespace; `ns` "": in all of them. The same errors.
  virtual void authorize(caller_identity const&, std::string_view ns, access_handler) = 0;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
