// Servers by namespace and whole label set, and label sets by label: what makes a new view cheap.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/cache/index/generation_table.hpp>
#include <agones_alloc/model/string_map.hpp>
#include <agones_alloc/select/claim.hpp>
#include <agones_alloc/select/match.hpp>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Servers of one fleet share their labels, so label clauses are evaluated once per view and label set.
struct label_set {
  shared_string namespace_;
  string_map labels;
  std::size_t hash{0};
  std::vector<std::uint32_t> members;    ///< ids of servers
  std::vector<table_ref> views;          ///< views whose namespace and label clauses accept it; some may be gone
  std::uint32_t allocated{0};            ///< members that are Allocated; the others are Ready
  bool game_confirms{false};             ///< the labels confirm claims
};

// Equal hashes of unequal labels are harmless: candidates are looked at before they count.
inline auto label_hash(std::string_view key, std::string_view value) noexcept -> std::uint64_t {
  return (std::hash<std::string_view>{}(key) * 0x9e3779b97f4a7c15ULL) ^ std::hash<std::string_view>{}(value);
}
inline auto label_key_hash(std::string_view key) noexcept -> std::uint64_t { return std::hash<std::string_view>{}(key); }

class label_sets {
 public:
  label_sets() = default;
  label_sets(label_sets const&) = delete;
  auto operator=(label_sets const&) -> label_sets& = delete;

  auto operator[](std::uint32_t index) noexcept -> label_set& { return *table_.at(index); }
  auto get(table_ref ref) noexcept -> label_set* { return table_.get(ref); }
  auto size() const noexcept -> std::size_t { return table_.size(); }
  auto places() const noexcept -> std::size_t { return table_.places(); }
  auto at(std::size_t index) noexcept -> label_set* { return table_.at(index); }

  /// The label set's index, and whether it was made just now.
  auto intern(shared_string const& ns, string_map const& labels) -> std::pair<std::uint32_t, bool>;

  /// Adds a member; its position.
  auto join(std::uint32_t index, std::uint32_t id) -> std::uint32_t;
  /// Removes the member at a position; the id of the one that takes its place, if another one does.
  auto leave(std::uint32_t index, std::uint32_t position) -> std::optional<std::uint32_t>;
  /// A label set without members is forgotten.
  void forget_if_empty(std::uint32_t index);

  /// Label sets among which are all that these clauses accept; none at once for a label nothing has.
  auto candidates(std::vector<label_clause> const& clauses) -> std::vector<table_ref>;

 private:
  struct probe {
    std::size_t hash;
    std::string_view ns;
    string_map const* labels;
  };
  struct hash_of {
    using is_transparent = void;
    label_sets* in;
    auto operator()(std::uint32_t index) const noexcept -> std::size_t { return (*in)[index].hash; }
    auto operator()(probe const& p) const noexcept -> std::size_t { return p.hash; }
  };
  struct same {
    using is_transparent = void;
    label_sets* in;
    auto operator()(std::uint32_t a, std::uint32_t b) const noexcept -> bool { return a == b; }
    auto operator()(probe const& p, std::uint32_t index) const noexcept -> bool {
      auto const& set = (*in)[index];
      return set.hash == p.hash && set.namespace_ == p.ns && set.labels == *p.labels;
    }
    auto operator()(std::uint32_t index, probe const& p) const noexcept -> bool { return (*this)(p, index); }
  };
  /// Label sets with one label. Of label sets that are gone the references stay until they are the majority.
  struct posting {
    std::vector<table_ref> sets;
    std::size_t gone{0};
  };

  auto posting_size(label_clause const& clause) const -> std::size_t;
  void purge(posting& list);

  generation_table<label_set> table_;
  boost::unordered_flat_set<std::uint32_t, hash_of, same> by_content_{0, hash_of{this}, same{this}};
  boost::unordered_flat_map<std::uint64_t, posting> by_label_;      // by label_hash
  boost::unordered_flat_map<std::uint64_t, std::size_t> with_key_;  // number of label sets, by label_key_hash
};

inline auto label_sets::intern(shared_string const& ns, string_map const& labels)
    -> std::pair<std::uint32_t, bool> {
  auto const hash = label_hash(ns, labels.bytes());
  auto const found = by_content_.find(probe{hash, ns, &labels});
  if (found != by_content_.end()) return {*found, false};
  auto const ref = table_.emplace();
  auto& made = *table_.get(ref);
  made.namespace_ = ns;
  made.labels = labels;
  made.hash = hash;
  made.game_confirms = labels.contains(keys::sdk_confirmed);
  by_content_.insert(ref.index);
  for (auto const [key, value] : labels) {
    by_label_[label_hash(key, value)].sets.push_back(ref);
    ++with_key_[label_key_hash(key)];
  }
  return {ref.index, true};
}

inline auto label_sets::join(std::uint32_t index, std::uint32_t id) -> std::uint32_t {
  auto& members = (*this)[index].members;
  members.push_back(id);
  return static_cast<std::uint32_t>(members.size() - 1);
}

inline auto label_sets::leave(std::uint32_t index, std::uint32_t position) -> std::optional<std::uint32_t> {
  auto& members = (*this)[index].members;
  auto const last = members.back();
  members.pop_back();
  if (position == members.size()) return std::nullopt;
  members[position] = last;
  return last;
}

inline void label_sets::forget_if_empty(std::uint32_t index) {
  auto& set = (*this)[index];
  if (!set.members.empty()) return;
  auto const labels = set.labels;
  by_content_.erase(by_content_.find(index));
  table_.erase(table_.ref_at(index));
  for (auto const [key, value] : labels) {
    auto const at = by_label_.find(label_hash(key, value));
    auto& list = at->second;
    if (++list.gone == list.sets.size()) {
      by_label_.erase(at);
    } else if (list.gone > list.sets.size() / 2) {
      purge(list);
    }
    auto const count = with_key_.find(label_key_hash(key));
    if (--count->second == 0) with_key_.erase(count);
  }
}

inline void label_sets::purge(posting& list) {
  std::erase_if(list.sets, [this](table_ref ref) { return table_.get(ref) == nullptr; });
  list.gone = 0;
}

inline auto label_sets::posting_size(label_clause const& clause) const -> std::size_t {
  std::size_t sum = 0;
  for (auto const& value : clause.values) {
    auto const at = by_label_.find(label_hash(clause.key, value));
    if (at != by_label_.end()) sum += at->second.sets.size();
  }
  return sum;
}

inline auto label_sets::candidates(std::vector<label_clause> const& clauses) -> std::vector<table_ref> {
  std::vector<table_ref> out;
  label_clause const* narrowest = nullptr;
  std::size_t least = 0;
  for (auto const& clause : clauses) {
    if (clause.op == label_operator::exists && !with_key_.contains(label_key_hash(clause.key))) return out;
    if (clause.op != label_operator::in) continue;
    auto const size = posting_size(clause);
    if (narrowest != nullptr && size >= least) continue;
    narrowest = &clause;
    least = size;
  }
  if (narrowest == nullptr) {
    for (std::size_t i = 0; i != table_.places(); ++i) {
      if (table_.at(i) != nullptr) out.push_back(table_.ref_at(i));
    }
    return out;
  }
  out.reserve(least);
  for (auto const& value : narrowest->values) {
    auto const at = by_label_.find(label_hash(narrowest->key, value));
    if (at != by_label_.end()) out.insert(out.end(), at->second.sets.begin(), at->second.sets.end());
  }
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
