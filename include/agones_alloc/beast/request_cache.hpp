// Compiled requests by the bytes they came in.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/select/request.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// A matchmaker sends the same few bodies again and again; a compiled request is immutable, so equal bytes can share
/// one. Bounded: at most `entries` bodies of at most `body_bytes`; when it is full it starts anew. Not thread-safe.
class request_cache {
 public:
  static constexpr std::size_t entries = 256;
  static constexpr std::size_t body_bytes = 4096;

  /// Null when these bytes are not known.
  auto find(std::string_view body) const -> request_ptr {
    auto const at = known_.find(body);
    return at == known_.end() ? nullptr : at->second;
  }

  /// Only what was decoded, validated and compiled from exactly these bytes.
  void remember(std::string_view body, request_ptr request) {
    if (body.size() > body_bytes) return;
    if (known_.size() >= entries) known_.clear();
    known_.insert_or_assign(std::string{body}, std::move(request));
  }

  auto size() const noexcept -> std::size_t { return known_.size(); }

 private:
  struct hash {
    using is_transparent = void;
    auto operator()(std::string_view text) const noexcept -> std::size_t { return std::hash<std::string_view>{}(text); }
  };
  std::unordered_map<std::string, request_ptr, hash, std::equal_to<>> known_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
