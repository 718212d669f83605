// Who holds a token, and who may allocate, as the API server says: TokenReview and SubjectAccessReview.
#pragma once

#include <agones_alloc/beast/access_review.hpp>
#include <agones_alloc/beast/client/http_client.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/logger.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstddef>
#include <memory>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct access_reviewer_options {
  std::chrono::nanoseconds time{std::chrono::seconds{5}};       ///< of one review
  /// How long an answer counts, yes and no alike, as in the API server's own delegation: a right that is taken away, or a
  /// token that is revoked, goes on to count for so long.
  std::chrono::nanoseconds remember{std::chrono::seconds{10}};
  std::size_t remembered{4096};  ///< tokens, and pairs of caller and namespace, each; the ones used last. At least 1
  std::size_t at_once{32};       ///< reviews under way, at least 1; one more is errc::too_many_requests
  logger* log{nullptr};
};

namespace detail {
class access_reviewer_state;
}

/// Equal questions at the same time are one review. A review that fails is not remembered; the first of a row of failures
/// is logged. Tokens are kept as SHA-256 digests and never logged. Needs `create` on `tokenreviews` and
/// `subjectaccessreviews`: the ClusterRole system:auth-delegator.
///
/// Groups of callers by certificate get `system:authenticated`, as the API server adds it.
///
/// Confined to the executor. Client, timer and logger must outlive it and, once it is destroyed, what is pending
/// then, which goes on to its end.
class access_reviewer final : public access_review {
 public:
  /// Throws std::invalid_argument naming the option that is out of range.
  AGONES_ALLOC_DECL access_reviewer(boost::asio::any_io_executor, http_client&, timer&, access_reviewer_options = {});
  AGONES_ALLOC_DECL ~access_reviewer() override;
  access_reviewer(access_reviewer const&) = delete;
  auto operator=(access_reviewer const&) -> access_reviewer& = delete;

  AGONES_ALLOC_DECL void authenticate(std::string_view token, identity_handler) override;
  AGONES_ALLOC_DECL void authorize(caller_identity const&, std::string_view ns, access_handler) override;

 private:
  std::shared_ptr<detail::access_reviewer_state> state_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/kubernetes/access_reviewer.ipp>
#endif
