#pragma once

#include <agones_alloc/json/detail/forwarded_labels.hpp>
#include <agones_alloc/json/detail/place.hpp>
#include <agones_alloc/json/detail/write_rest.hpp>
#include <agones_alloc/json/rest.hpp>

#include <optional>
#include <span>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail::wire {

class rest_request_writer {
 public:
  rest_request_writer(writer& to, feature_gates gates) noexcept : to_{to}, gates_{gates} {}

  void write(game_server_allocation const& gsa, rest_forward_options const& forward) {
    auto const& spec = gsa.spec;
    auto const labels = selector_labels(spec, forward.match_expressions);
    to_.open('{');
    to_.key("namespace");
    to_.text(forward.namespace_.empty() ? gsa.meta.namespace_.view() : forward.namespace_);
    multi_cluster(spec.multi_cluster, forward.disable_multi_cluster);
    to_.key("requiredGameServerSelector");  // for old servers: the last of them, the others are preferred
    if (spec.selectors.empty()) {
      to_.raw("null");
    } else {
      selector(spec.selectors.back(), labels.back());
    }
    selectors("preferredGameServerSelectors", spec.selectors, labels,
              spec.selectors.empty() ? 0 : spec.selectors.size() - 1);
    write_member(to_, "scheduling", shared_string{spec.scheduling == "Distributed" ? "Distributed" : "Packed"});
    rest_labels(to_, "metaPatch", spec.metadata);
    rest_labels(to_, "metadata", spec.metadata);
    selectors("gameServerSelectors", spec.selectors, labels, spec.selectors.size());
    counts_and_lists(spec);
    to_.close('}');
  }
  auto take_error() -> std::optional<decode_error> { return std::move(error_); }

 private:
  auto selector_labels(allocation_spec const& spec, bool expressions) -> std::vector<label_selector> {
    std::vector<label_selector> out(spec.selectors.size());
    auto const root = place::root("spec");
    auto const list = root.member("selectors");
    for (std::size_t i = 0; i < out.size(); ++i) {
      keep(forwarded_labels(spec.selectors[i].labels, list.element(i), expressions, out[i]));
    }
    return out;
  }
  void multi_cluster(multi_cluster_setting const& setting, bool disable) {
    bool const enabled = setting.enabled && !disable;
    to_.key("multiClusterSetting");
    to_.open('{');
    to_.key("enabled");
    to_.raw(enabled ? "true" : "false");
    to_.key("policySelector");
    if (enabled) {
      label_selector labels;
      auto const at = place::root("spec.multiClusterSetting.policySelector");
      keep(forwarded_labels(setting.policy_selector, at, false, labels));
      to_.open('{');
      write_member(to_, "matchLabels", labels.match_labels);
      to_.close('}');
    } else {
      to_.raw("null");
    }
    to_.close('}');
  }
  void selector(game_server_selector const& from, label_selector const& labels) {
    to_.open('{');
    write_member(to_, "matchLabels", labels.match_labels);
    to_.key("gameServerState");
    to_.text(from.game_server_state && *from.game_server_state == "Allocated" ? "ALLOCATED" : "READY");
    to_.key("players");
    if (gates_.player_allocation_filter && from.players) {
      to_.open('{');
      rest_number(to_, "minAvailable", from.players->min_available);
      rest_number(to_, "maxAvailable", from.players->max_available);
      to_.close('}');
    } else {
      to_.raw("null");
    }
    bool const counts = gates_.counts_and_lists;
    rest_counter_selectors(to_, counts && from.counters ? *from.counters : named_map<counter_selector>{});
    rest_list_selectors(to_, counts && from.lists ? *from.lists : named_map<list_selector>{});
    if (!labels.match_expressions.empty()) rest_expressions(to_, labels.match_expressions);
    to_.close('}');
  }
  void selectors(std::string_view name, std::vector<game_server_selector> const& from,
                 std::vector<label_selector> const& labels, std::size_t count) {
    to_.key(name);
    to_.open('[');
    for (std::size_t i = 0; i < count; ++i) selector(from[i], labels[i]);
    to_.close(']');
  }
  void counts_and_lists(allocation_spec const& spec) {
    bool const counts = gates_.counts_and_lists;
    rest_array(to_, "priorities", counts && spec.priorities ? *spec.priorities : std::vector<priority>{},
               [&](priority const& one) {
                 to_.open('{');
                 write_member(to_, "type", shared_string{one.type == "List" ? "List" : "Counter"});
                 write_member(to_, "key", one.key);
                 write_member(to_, "order", shared_string{one.order == "Descending" ? "Descending" : "Ascending"});
                 to_.close('}');
               });
    rest_counter_actions(to_, counts && spec.counters ? *spec.counters : named_map<counter_action>{});
    rest_list_actions(to_, counts && spec.lists ? *spec.lists : named_map<list_action>{});
  }
  void keep(std::optional<decode_error> error) {
    if (error && !error_) error_ = std::move(error);
  }

  writer& to_;
  feature_gates gates_;
  std::optional<decode_error> error_;
};

}  // namespace detail::wire

AGONES_ALLOC_DECL auto allocation_to_rest_request(game_server_allocation const& gsa, feature_gates gates,
                                                  rest_forward_options const& forward) -> decoded<std::string> {
  std::optional<decode_error> error;
  auto out = detail::wire::written([&](detail::wire::writer& to) {
    detail::wire::rest_request_writer request{to, gates};
    request.write(gsa, forward);
    error = request.take_error();
  });
  if (error) return *std::move(error);
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
