#pragma once

#include <agones_alloc/cache/index/index_core.hpp>
#include <agones_alloc/select/detail/clauses.hpp>
#include <agones_alloc/select/find.hpp>

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

// Of label sets and servers looked at for one request, so that a mistyped or hostile one costs about a millisecond.
inline constexpr std::size_t most_explained = 16384;
inline constexpr std::size_t most_explained_selectors = 16;
inline constexpr std::string_view partly = " (at least)";  // not all were looked at

AGONES_ALLOC_DECL auto index_core::explain(allocation_request const& request) -> breakdown {
  breakdown out;
  auto budget = most_explained;
  for (auto const& shape : request.shapes()) {
    if (out.selectors.size() == most_explained_selectors) break;
    if (shape.selector.share.count > 1) continue;  // the selector's other shape has all
    auto const* view = find_view(shape);
    if (view == nullptr) {
      out.selectors.push_back(explain_shape(shape, budget));
      continue;
    }
    auto& known = explained_[view->self.index];
    if (known.clauses.empty() || known.changes != changes_) known = {changes_, explain_shape(shape, budget)};
    out.selectors.push_back(known.clauses);
  }
  return out;
}

AGONES_ALLOC_DECL auto index_core::explain_shape(view_shape const& shape, std::size_t& budget)
    -> std::vector<breakdown::clause> {
  std::vector<label_set*> sets;
  auto const looked_at = std::min(label_sets_.places(), budget);
  budget -= looked_at;
  for (std::size_t i = 0; i != looked_at; ++i) {
    auto* set = label_sets_.at(i);
    if (set != nullptr && set->namespace_ == shape.namespace_) sets.push_back(set);
  }
  std::vector<breakdown::clause> out;
  auto const note = [&](std::string name, auto size_of) {
    std::uint64_t sum = 0;
    for (auto const* set : sets) sum += size_of(*set);
    out.push_back({std::move(name), sum});
    if (looked_at != label_sets_.places()) out.back().name += partly;
  };
  auto const all_members = [](label_set const& set) -> std::uint64_t { return set.members.size(); };
  note("namespace " + shape.namespace_.str(), all_members);
  for (auto const& clause : shape.selector.labels) {
    std::erase_if(sets, [&](label_set const* set) { return !holds(clause, set->labels); });
    note(clause_name(clause), all_members);
  }
  auto const state = shape.selector.state;
  if (state) {
    note("state " + std::string{to_string(*state)}, [state](label_set const& set) -> std::uint64_t {
      if (*state == game_server_state::allocated) return set.allocated;
      return *state == game_server_state::ready ? set.members.size() - set.allocated : 0;
    });
  }

  // The other clauses differ from server to server.
  view_shape rest;
  rest.namespace_ = shape.namespace_;
  rest.selector.players = shape.selector.players;
  rest.selector.counters = shape.selector.counters;
  rest.selector.lists = shape.selector.lists;
  rest.selector.at_most = shape.selector.at_most;
  if (rest.selector == compiled_selector{}) return out;
  std::vector<game_server_ptr> left;
  auto all = looked_at == label_sets_.places();
  for (auto const* set : sets) {
    for (auto const id : set->members) {
      if (budget == 0) {
        all = false;
        break;
      }
      --budget;
      if (!state || servers_[id].state == *state) left.push_back(servers_[id].server);
    }
  }
  auto clauses = detail::explain_shape(rest, std::span<game_server_ptr const>{left});
  if (!all) {
    for (auto& clause : clauses) clause.name += partly;
  }
  out.insert(out.end(), std::make_move_iterator(clauses.begin() + 1), std::make_move_iterator(clauses.end()));
  return out;
}

AGONES_ALLOC_DECL auto index_core::statistics() -> index_statistics {
  index_statistics out;
  out.views = views_.size();
  out.label_sets = label_sets_.size();
  out.nodes = nodes_.size();
  out.waiting = waiting_.size();
  out.lost_claims = lost_claims_;
  for (std::size_t i = 0; i != views_.places(); ++i) {
    if (auto const* view = views_.at(i)) out.entries += view->free;
  }
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
