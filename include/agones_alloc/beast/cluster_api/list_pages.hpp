// Lists that are being read page by page.
#pragma once

#include <agones_alloc/beast/cluster_api/api_object.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/timer.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Keeps the newest few lists that somebody may go on with, so that all pages show one state. A list that nobody asks for
/// is forgotten after a while. Confined to one executor.
class list_pages {
 public:
  struct place {
    std::shared_ptr<feed_list const> list;
    std::size_t offset{0};
  };

  list_pages(timer& time, std::size_t most, std::chrono::nanoseconds kept) : time_{&time}, most_{most}, kept_{kept} {}

  /// The token with which to go on in that list at `offset`.
  AGONES_ALLOC_DECL auto token(std::shared_ptr<feed_list const>, std::size_t offset) -> std::string;
  /// Whether it has a token's form.
  AGONES_ALLOC_DECL static auto is_token(std::string_view) noexcept -> bool;
  /// nullopt: the token is no longer known, or never was.
  AGONES_ALLOC_DECL auto find(std::string_view token) -> std::optional<place>;

 private:
  struct entry {
    std::uint64_t id;
    timer::time_point used;
    std::shared_ptr<feed_list const> list;
  };
  void forget_old();

  timer* time_;
  std::size_t most_;
  std::chrono::nanoseconds kept_;
  std::deque<entry> entries_;  ///< the one used last at the end
  std::uint64_t next_id_{1};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/cluster_api/list_pages.ipp>
#endif
