#pragma once

#include <agones_alloc/detail/hash.hpp>
#include <agones_alloc/select/claim.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

/// Adds the parts of a request, each with whether it is there and how many it has.
class digest_maker {
 public:
  auto value() const noexcept -> std::uint64_t { return hash_.value(); }

  void add(std::string_view text) noexcept { hash_.add(text); }
  void add(shared_string const& text) noexcept { hash_.add(text.view()); }
  void add(std::int64_t number) noexcept { hash_.add(number); }
  void add(bool flag) noexcept { hash_.add(flag); }
  void add(string_map const& map) noexcept { hash_.add(map.bytes()); }
  template <class T>
  void add(std::optional<T> const& part) noexcept {
    add(part.has_value());
    if (part) add(*part);
  }
  template <class T>
  void add(std::vector<T> const& parts) noexcept {
    add(static_cast<std::int64_t>(parts.size()));
    for (auto const& part : parts) add(part);
  }
  template <class T>
  void add(named_map<T> const& parts) noexcept {
    add(static_cast<std::int64_t>(parts.size()));
    for (auto const& [name, part] : parts) {
      add(name);
      add(part);
    }
  }
  void add(label_requirement const& part) noexcept { all(part.key, part.op, part.values); }
  void add(label_selector const& part) noexcept { all(part.match_labels, part.match_expressions); }
  void add(player_selector const& part) noexcept { all(part.min_available, part.max_available); }
  void add(counter_selector const& part) noexcept {
    all(part.min_count, part.max_count, part.min_available, part.max_available);
  }
  void add(list_selector const& part) noexcept { all(part.contains_value, part.min_available, part.max_available); }
  void add(game_server_selector const& part) noexcept {
    all(part.labels, part.game_server_state, part.players, part.counters, part.lists);
  }
  void add(priority const& part) noexcept { all(part.type, part.key, part.order); }
  void add(counter_action const& part) noexcept { all(part.action, part.amount, part.capacity); }
  void add(list_action const& part) noexcept { all(part.add_values, part.delete_values, part.capacity); }
  void add(meta_patch const& part) noexcept { all(part.labels, part.annotations); }
  void add(multi_cluster_setting const& part) noexcept { all(part.enabled, part.policy_selector); }
  void add(target_server const& part) noexcept { all(part.name, part.uid, part.required); }
  void add(allocation_spec const& part) noexcept {
    all(part.multi_cluster, part.selectors, part.priorities, part.scheduling, part.metadata, part.counters, part.lists);
  }

  template <class... Parts>
  void all(Parts const&... parts) noexcept {
    (add(parts), ...);
  }

 private:
  stable_hash hash_;
};

}  // namespace detail

// The deprecated selectors stand among `selectors` once a request is made. How to choose is not of the request, but for a server's name.
AGONES_ALLOC_DECL auto request_digest(allocation_request const& request) noexcept -> std::uint64_t {
  if (auto const known = request.known_digest(); known != 0) return known;
  detail::digest_maker out;
  out.all(request.allocation().meta.namespace_, request.allocation().spec, request.target());
  request.know_digest(out.value());
  return out.value();
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
