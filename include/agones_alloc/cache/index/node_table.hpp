// Nodes by name, their loads, and which loads changed lately.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/cache/open_nodes.hpp>
#include <agones_alloc/model/game_server.hpp>
#include <agones_alloc/select/rank.hpp>

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

class node_table {
 public:
  struct node {
    shared_string name;
    node_load load;
  };
  /// So many changes are remembered.
  static constexpr std::uint64_t history = 4096;

  auto operator[](std::uint32_t id) noexcept -> node& { return nodes_[id]; }
  auto size() const noexcept -> std::size_t { return by_name_.size(); }

  /// The load of this node has changed. An order of nodes hears of it when it is asked next: to tell them all would cost each
  /// write as much as there are orders.
  void note_change(std::uint32_t id) noexcept { changed_[changes_++ % history] = id; }
  /// How many changes were noted.
  auto changes() const noexcept -> std::uint64_t { return changes_; }
  /// The node of a change, one of the last `history`.
  auto changed(std::uint64_t number) const noexcept -> std::uint32_t { return changed_[number % history]; }

  auto find(std::string_view name) const -> std::optional<node_load> {
    auto const at = by_name_.find(name);
    if (at == by_name_.end()) return std::nullopt;
    return nodes_[at->second].load;
  }

  /// Counts a server in; the id of its node.
  auto enter(shared_string const& name, game_server_state state) -> std::uint32_t {
    auto const at = by_name_.find(name.view());
    auto const id = at == by_name_.end() ? add(name) : at->second;
    count(id, state) += 1;
    return id;
  }
  void enter(std::uint32_t id, game_server_state state) { count(id, state) += 1; }

  /// Counts a server out.
  void leave(std::uint32_t id, game_server_state state) { count(id, state) -= 1; }
  /// A node without servers is forgotten, and its id used again.
  void forget_if_empty(std::uint32_t id) {
    auto& left = nodes_[id];
    if (left.load.allocated != 0 || left.load.ready != 0) return;
    by_name_.erase(left.name);
    left.name = {};
    left.load = {};
    free_.push_back(id);
  }

  /// From now on these are open; null: all of them.
  void set_open(std::shared_ptr<open_nodes const> open) {
    open_ = std::move(open);
    for (auto const& [name, id] : by_name_) {
      auto& load = nodes_[id].load;
      if (std::exchange(load.closing, is_closing(name)) != load.closing) note_change(id);
    }
  }

 private:
  struct text_hash {
    using is_transparent = void;
    auto operator()(std::string_view text) const noexcept -> std::size_t { return std::hash<std::string_view>{}(text); }
  };

  auto count(std::uint32_t id, game_server_state state) noexcept -> std::uint32_t& {
    auto& load = nodes_[id].load;
    return state == game_server_state::allocated ? load.allocated : load.ready;
  }

  auto is_closing(std::string_view name) const noexcept -> bool { return open_ != nullptr && !open_->contains(name); }

  auto add(shared_string const& name) -> std::uint32_t {
    auto id = static_cast<std::uint32_t>(nodes_.size());
    if (free_.empty()) {
      nodes_.emplace_back();
    } else {
      id = free_.back();
      free_.pop_back();
    }
    nodes_[id].name = name;
    nodes_[id].load.closing = is_closing(name);
    by_name_.emplace(name, id);
    return id;
  }

  std::vector<node> nodes_;
  std::vector<std::uint32_t> changed_ = std::vector<std::uint32_t>(history);
  std::uint64_t changes_{0};
  std::vector<std::uint32_t> free_;
  std::shared_ptr<open_nodes const> open_;
  boost::unordered_flat_map<shared_string, std::uint32_t, text_hash, std::equal_to<>> by_name_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
