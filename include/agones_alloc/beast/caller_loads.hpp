// How many requests each caller has under way.
#pragma once

#include <agones_alloc/beast/http_message.hpp>
#include <agones_alloc/config.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Who asks, for what is counted: the user, where it is known (a certificate's, a token's, or the one that a front proxy
/// names); else the certificate's subject; else the peer's address.
AGONES_ALLOC_DECL auto caller_key(http_request const&) -> std::string;

/// Bounds what one caller may have under way, so that it cannot take what all need. Remembers callers only while they have
/// something under way. Confined to one executor; its passes may outlive it.
class caller_loads {
  using table = std::unordered_map<std::string, std::size_t>;
  struct state {
    table callers;
    std::size_t requests{0};
  };

 public:
  /// A request under way, until it is destroyed. Empty: it is refused.
  class pass {
   public:
    pass() noexcept = default;
    pass(pass&&) noexcept = default;
    auto operator=(pass&&) = delete;
    ~pass() {
      if (in_ == nullptr) return;
      --in_->requests;
      if (--of_->second == 0) in_->callers.erase(in_->callers.find(of_->first));
    }
    explicit operator bool() const noexcept { return in_ != nullptr; }

   private:
    friend class caller_loads;
    pass(std::shared_ptr<state> in, table::value_type& of) noexcept : in_{std::move(in)}, of_{&of} {}
    std::shared_ptr<state> in_;
    table::value_type* of_{nullptr};
  };

  /// `most` requests of one caller at once; 0: as many as there are.
  explicit caller_loads(std::size_t most) : most_{most}, state_{std::make_shared<state>()} {}

  /// `urgent`: for what frees servers or keeps them, an eighth more is let through.
  AGONES_ALLOC_DECL auto enter(std::string caller, bool urgent) -> pass;

  auto most() const noexcept -> std::size_t { return most_; }
  auto requests() const noexcept -> std::size_t { return state_->requests; }       ///< under way
  auto callers() const noexcept -> std::size_t { return state_->callers.size(); }  ///< who have some
  auto refused() const noexcept -> std::uint64_t { return refused_; }              ///< since the start

 private:
  std::size_t most_;
  std::uint64_t refused_{0};
  std::shared_ptr<state> state_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/caller_loads.ipp>
#endif
