// Nodes by name, their loads, and who has to hear when a load changes.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/cache/index/generation_table.hpp>
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

/// A cell of a view whose key was made from the node's load as it is now.
struct clean_cell {
  table_ref view;
  std::uint32_t cell;
  bool allocated;  ///< which of the view's two orders
};

class node_table {
 public:
  struct node {
    shared_string name;
    node_load load;
    std::vector<clean_cell> clean;
  };

  auto operator[](std::uint32_t id) noexcept -> node& { return nodes_[id]; }
  auto size() const noexcept -> std::size_t { return by_name_.size(); }

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

  /// From now on these are open; null: all of them. Calls changed(id) for each node that was open or closing before, and is not now.
  template <class F>
  void set_open(std::shared_ptr<open_nodes const> open, F changed) {
    open_ = std::move(open);
    for (auto const& [name, id] : by_name_) {
      auto& load = nodes_[id].load;
      if (std::exchange(load.closing, is_closing(name)) != load.closing) changed(id);
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
  std::vector<std::uint32_t> free_;
  std::shared_ptr<open_nodes const> open_;
  boost::unordered_flat_map<shared_string, std::uint32_t, text_hash, std::equal_to<>> by_name_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
