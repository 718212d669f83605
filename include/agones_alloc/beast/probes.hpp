// `/live` and `/ready` (spec 10.2).
#pragma once

#include <agones_alloc/beast/http_handler.hpp>
#include <agones_alloc/config.hpp>

#include <functional>
#include <map>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Named checks. A check returns "" when all is well, else why not; it must be quick and must not throw.
/// Readiness includes every liveness check. Confined to the listener's executor.
class probes final : public http_handler {
 public:
  using check = std::function<std::string()>;

  void add_live(std::string name, check c) { live_.insert_or_assign(std::move(name), std::move(c)); }
  void add_ready(std::string name, check c) { ready_.insert_or_assign(std::move(name), std::move(c)); }

  /// Every check by name with its present answer, for the healthcheck gauge.
  AGONES_ALLOC_DECL auto results() const -> std::map<std::string, std::string>;

  /// GET and HEAD of `/live` and `/ready`: 200 or 503 with `{}`; `?full=1` lists check -> `OK` or its text. Other
  /// methods: 405.
  AGONES_ALLOC_DECL void handle(http_request const&, reply) override;

 private:
  std::map<std::string, check> live_;
  std::map<std::string, check> ready_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/probes.ipp>
#endif
