// Which handler answers which path.
#pragma once

#include <agones_alloc/beast/http_handler.hpp>
#include <agones_alloc/config.hpp>

#include <string>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// The longest registered path that equals the request's, or that is a prefix of it and was added with `prefix`,
/// answers; else the fallback. Handlers must outlive it. Thread safety: fill it before it serves.
class http_router final : public http_handler {
 public:
  explicit http_router(http_handler& fallback) : fallback_{&fallback} {}

  void add(std::string path, http_handler& handler, bool prefix = false) {
    routes_.push_back({std::move(path), &handler, prefix});
  }

  void handle(http_request const& request, reply done) override {
    auto* chosen = fallback_;
    std::size_t longest = 0;
    for (auto const& candidate : routes_) {
      bool const hit = candidate.prefix ? request.path.starts_with(candidate.path) : request.path == candidate.path;
      if (!hit || candidate.path.size() < longest) continue;
      longest = candidate.path.size();
      chosen = candidate.handler;
    }
    chosen->handle(request, std::move(done));
  }

 private:
  struct route {
    std::string path;
    http_handler* handler;
    bool prefix;
  };
  http_handler* fallback_;
  std::vector<route> routes_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
