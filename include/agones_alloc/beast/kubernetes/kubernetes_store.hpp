// Game servers where they live: at a Kubernetes API server.
#pragma once

#include <agones_alloc/beast/client/http_client.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/store.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct kubernetes_store_options {
  std::string field_manager{"agones-alloc"};  ///< who changed a field, as managedFields tell; "": the User-Agent
  std::size_t object_bytes{8U << 20U};        ///< most bytes of an answer, at least 1
  bool keep_spec{false};                      ///< servers come back with `spec` and `ownerReferences`
};

/// One allocation is one PATCH: the difference as a merge patch with the claimed object's uid and resource version, so
/// the API server's own optimistic lock decides, and fields unknown here survive (Q42). The answer is the new object.
/// What each answer means: answer_meaning.hpp and http_client.hpp. `server_message` has the server's words and
/// `server_code` its status; `retry_after` its Retry-After.
///
/// A write whose answer cannot be read is errc::outcome_unknown; a read, errc::malformed. Without a server of that
/// name and uid: condition::gone. Reads are quorum reads.
///
/// Lifetimes: the client must outlive the store; what is pending lives on in the client. Handlers complete where the
/// client completes them. Thread safety: as the client.
class kubernetes_store final : public store {
 public:
  AGONES_ALLOC_DECL explicit kubernetes_store(http_client&, kubernetes_store_options = {});

 private:
  AGONES_ALLOC_DECL void do_update(update_request, handler) override;
  AGONES_ALLOC_DECL void do_read(object_key, handler) override;

  http_client& client_;
  std::shared_ptr<kubernetes_store_options const> options_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/kubernetes/kubernetes_store.ipp>
#endif
