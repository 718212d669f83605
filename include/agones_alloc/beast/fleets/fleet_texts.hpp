// Rows of the directory as JSON, written once for all who are told.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/fleet_info.hpp>
#include <agones_alloc/model/fleet_info.hpp>

#include <boost/unordered/unordered_flat_map.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Keeps the texts of about as many rows as were used lately. Thread safety: none.
class fleet_texts {
 public:
  /// `rows`: how many there are at least before the older half is forgotten.
  explicit fleet_texts(std::size_t rows = 1024) : rows_{rows} {}

  auto of(fleet_info_ptr const& fleet, fleet_info_parts parts) -> std::string const& {
    auto& kept = kept_[(parts.nodes ? 1U : 0U) + (parts.annotations ? 2U : 0U)];
    if (auto const at = kept.now.find(fleet.get()); at != kept.now.end()) return *at->second.second;
    if (kept.now.size() >= 2 * rows_) kept.before = std::exchange(kept.now, {});
    entry made;
    if (auto const at = kept.before.find(fleet.get()); at != kept.before.end()) {
      made = std::move(at->second);
      kept.before.erase(at);
    } else {
      auto text = std::make_shared<std::string>();
      append_json(*text, *fleet, parts);
      made = {fleet, std::move(text)};
    }
    return *kept.now.emplace(fleet.get(), std::move(made)).first->second.second;
  }
  /// So many rows are told at a time.
  void expect(std::size_t rows) noexcept { rows_ = rows > rows_ ? rows : rows_; }

 private:
  using entry = std::pair<fleet_info_ptr, std::shared_ptr<std::string const>>;  ///< the row stays, so that its address does
  using table = boost::unordered_flat_map<fleet_info const*, entry>;
  struct generations {
    table now;
    table before;
  };
  std::size_t rows_;
  std::array<generations, 4> kept_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
