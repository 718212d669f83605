#pragma once

#include <agones_alloc/impl/select/match.ipp>
#include <agones_alloc/select/detail/clauses.hpp>
#include <agones_alloc/select/find.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline auto is_candidate(view_shape const& shape, game_server const& server) noexcept -> bool {
  return server.meta.namespace_ == shape.namespace_ && matches(shape.selector, server);
}

inline auto is_target(target_server const& target, game_server const& server) noexcept -> bool {
  return server.meta.name == target.name && (target.uid.empty() || server.meta.uid == target.uid);
}

/// The first selector the named server matches, if it is in the list and matches one.
inline auto find_target(allocation_request const& request, target_server const& target,
                        std::span<game_server_ptr const> list) -> std::optional<found_server> {
  for (std::size_t shape = 0; shape != request.shapes().size(); ++shape) {
    for (std::size_t i = 0; i != list.size(); ++i) {
      if (is_target(target, *list[i]) && is_candidate(request.shapes()[shape], *list[i])) {
        return found_server{i, request.selector_of(shape)};
      }
    }
  }
  return std::nullopt;
}

AGONES_ALLOC_DECL auto clause_name(label_clause const& clause) -> std::string {
  auto name = "label " + clause.key.str();
  auto const listed = [&clause] {
    std::string out = "(";
    for (auto const& value : clause.values) {
      if (out.size() > 1) out += ", ";
      out += value.view();
    }
    return out + ")";
  };
  switch (clause.op) {
    case label_operator::in:
      return name + (clause.values.size() == 1 ? "=" + clause.values[0].str() : " in " + listed());
    case label_operator::not_in:
      return name + " not in " + listed();
    case label_operator::exists:
      return name + " exists";
    case label_operator::does_not_exist:
      return name + " does not exist";
  }
  return name;
}

/// Narrows `left` one clause at a time and notes how many remain.
class narrowing {
 public:
  explicit narrowing(std::span<game_server_ptr const> all) {
    left_.reserve(all.size());
    for (auto const& server : all) left_.push_back(server.get());
  }

  template <class Predicate>
  void clause(std::string name, Predicate holds_for) {
    std::erase_if(left_, [&](game_server const* server) { return !holds_for(*server); });
    clauses_.push_back({std::move(name), left_.size()});
  }

  auto take() && -> std::vector<breakdown::clause> { return std::move(clauses_); }

 private:
  std::vector<game_server const*> left_;
  std::vector<breakdown::clause> clauses_;
};

AGONES_ALLOC_DECL auto explain_shape(view_shape const& shape, std::span<game_server_ptr const> all)
    -> std::vector<breakdown::clause> {
  narrowing left{all};
  auto const& wanted = shape.selector;
  left.clause("namespace " + shape.namespace_.str(),
              [&](game_server const& server) { return server.meta.namespace_ == shape.namespace_; });
  for (auto const& clause : wanted.labels) {
    left.clause(clause_name(clause), [&](game_server const& server) { return holds(clause, server.meta.labels); });
  }
  // One clause at a time, through the same function that decides.
  auto const by_status = [&left](std::string name, compiled_selector const& only) {
    left.clause(std::move(name), [&](game_server const& server) { return matches_status(only, server); });
  };
  if (wanted.state) {
    compiled_selector only;
    only.state = wanted.state;
    by_status("state " + std::string{to_string(*wanted.state)}, only);
  }
  if (wanted.players) {
    compiled_selector only;
    only.players = wanted.players;
    by_status("players", only);
  }
  for (auto const& [name, limits] : wanted.counters) {
    compiled_selector only;
    only.counters.emplace(name, limits);
    by_status("counter " + name.str(), only);
  }
  for (auto const& [name, limits] : wanted.lists) {
    compiled_selector only;
    only.lists.emplace(name, limits);
    by_status("list " + name.str(), only);
  }
  for (auto const& one : wanted.at_most) {
    compiled_selector only;
    only.at_most.push_back(one);
    by_status((one.in_list ? "list " : "counter ") + one.name.str() + " within its new capacity", only);
  }
  return std::move(left).take();
}

}  // namespace detail

AGONES_ALLOC_DECL auto find(allocation_request const& request, std::span<game_server_ptr const> list,
                            random_source& random) -> std::optional<found_server> {
  if (auto const& target = request.target()) {
    if (auto const hit = detail::find_target(request, *target, list)) return hit;
    if (target->required) return std::nullopt;
  }
  for (std::size_t number = 0; number != request.shapes().size(); ++number) {
    auto const& shape = request.shapes()[number];
    auto const any = shape.order.kind == order_kind::random;
    std::vector<std::size_t> hits;
    for (std::size_t i = 0; i != list.size(); ++i) {
      if (!detail::is_candidate(shape, *list[i])) continue;
      hits.push_back(i);
      if (!any && hits.size() == request.top_n_of(number)) break;
    }
    if (hits.empty()) continue;
    auto const drawn = hits.size() == 1 ? 0 : static_cast<std::size_t>(random.below(hits.size()));
    return found_server{hits[drawn], request.selector_of(number)};
  }
  return std::nullopt;
}

AGONES_ALLOC_DECL auto explain(allocation_request const& request, std::span<game_server_ptr const> all) -> breakdown {
  breakdown out;
  out.selectors.reserve(request.shapes().size());
  for (auto const& shape : request.shapes()) {
    if (shape.selector.share.count > 1) continue;  // the selector's other shape has all
    out.selectors.push_back(detail::explain_shape(shape, all));
  }
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
