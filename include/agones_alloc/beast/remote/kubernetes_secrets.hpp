// Secrets of a Kubernetes cluster, got by name.
#pragma once

#include <agones_alloc/beast/client/http_client.hpp>
#include <agones_alloc/beast/remote/secret_source.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/timer.hpp>

#include <chrono>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// `GET /api/v1/namespaces/<ns>/secrets/<name>` and nothing else: the right `get` on the named Secrets is enough (Q30).
/// Client and timer must outlive it. Thread safety: as the client's.
class kubernetes_secrets final : public secret_source {
 public:
  kubernetes_secrets(http_client& client, timer& time, std::chrono::nanoseconds request_time = std::chrono::seconds{10})
      : client_{&client}, time_{&time}, request_time_{request_time} {}

 private:
  AGONES_ALLOC_DECL void do_get(std::string namespace_, std::string name, handler) override;

  http_client* client_;
  timer* time_;
  std::chrono::nanoseconds request_time_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/remote/kubernetes_secrets.ipp>
#endif
