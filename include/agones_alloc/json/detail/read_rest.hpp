// Messages of the allocation service whose JSON differs from Kubernetes' (spec 8.7, 8.10).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/detail/read_members.hpp>
#include <agones_alloc/json/detail/read_selector.hpp>
#include <agones_alloc/model/allocation.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire {

/// An enum of two names; every enum of the service is one. Unknown numbers are kept, unknown names are not.
struct rest_enum {
  std::array<std::string_view, 2> names;
  std::int32_t number{0};
};

inline void read_value(reader& in, place const& at, boost::json::value const& value, rest_enum& out) {
  if (!value.is_string()) {
    std::int32_t number = 0;
    if (!value.is_number()) return in.expected(at, "an enum's name or number", value);
    read_value(in, at, value, number);
    if (in.options().strict && (number < 0 || number > 1)) in.fail(decode_fault::enum_name, at, "unknown enum number");
    if (in.ok()) out.number = number;
    return;
  }
  std::string_view const text = value.get_string();
  in.check_word(at, text, {out.names[0], out.names[1]});
  for (std::int32_t i = 0; i < 2; ++i) {
    if (out.names[static_cast<std::size_t>(i)] == text) out.number = i;
  }
}

/// uint64 on the wire, int64 in the model, bit by bit (spec 8.8 a).
struct rest_uint64 {
  std::int64_t& target;
};
inline void read_value(reader& in, place const& at, boost::json::value const& value, rest_uint64 const& out) {
  constexpr std::string_view what = "an unsigned 64-bit integer";
  auto const number = proto_number(value);
  if (auto const* large = std::get_if<std::uint64_t>(&number)) {
    out.target = static_cast<std::int64_t>(*large);
  } else if (auto const* small = std::get_if<std::int64_t>(&number)) {
    if (*small < 0) {
      return in.fail(decode_fault::type, at,
                     "expected " + std::string{what} + ", " + std::to_string(*small) + " is out of range");
    }
    out.target = *small;
  } else {
    in.not_an_integer(at, what, value);
  }
}

struct rest_players {
  player_selector selector;
};
inline void read_value(reader& in, place const& at, boost::json::value const& value, rest_players& out) {
  rest_uint64 const low{out.selector.min_available};
  rest_uint64 const high{out.selector.max_available};
  read_members(in, at, value, field{"minAvailable", low}, field{"maxAvailable", high});
}

/// The operator of an expression, by name or number. One that means nothing is kept as a word that does not validate: taken
/// for the default, as an unknown enum name is elsewhere, it would match what the caller excludes.
struct rest_operator {
  shared_string& target;
};
inline void read_value(reader& in, place const& at, boost::json::value const& value, rest_operator const& out) {
  constexpr std::array<std::string_view, 4> names{"In", "NotIn", "Exists", "DoesNotExist"};
  if (value.is_string()) {
    read_value(in, at, value, out.target);
    return in.check_word(at, out.target, {names[0], names[1], names[2], names[3]});
  }
  std::int32_t number = 0;
  if (!value.is_number()) return in.expected(at, "an enum's name or number", value);
  read_value(in, at, value, number);
  bool const known = number >= 0 && number < static_cast<std::int32_t>(names.size());
  if (in.options().strict && !known) in.fail(decode_fault::enum_name, at, "unknown enum number");
  if (in.ok()) out.target = known ? shared_string{names[static_cast<std::size_t>(number)]} : std::to_string(number);
}

struct rest_expression {
  label_requirement requirement{{}, "In", {}};
};
inline void read_value(reader& in, place const& at, boost::json::value const& value, rest_expression& out) {
  rest_operator const op{out.requirement.op};
  read_members(in, at, value, field{"key", out.requirement.key}, field{"operator", op},
               field{"values", out.requirement.values});
}

struct rest_selector {
  string_map match_labels;
  std::vector<rest_expression> match_expressions;
  rest_enum state{{"READY", "ALLOCATED"}};
  std::optional<rest_players> players;
  named_map<counter_selector> counters;
  named_map<list_selector> lists;
};
inline void read_value(reader& in, place const& at, boost::json::value const& value, rest_selector& out) {
  read_members(in, at, value, field{"matchLabels", out.match_labels}, field{"gameServerState", out.state},
               field{"players", out.players}, field{"counters", out.counters}, field{"lists", out.lists},
               field{"matchExpressions", out.match_expressions});
}

struct rest_priority {
  rest_enum type{{"Counter", "List"}};
  shared_string key;
  rest_enum order{{"Ascending", "Descending"}};
};
inline void read_value(reader& in, place const& at, boost::json::value const& value, rest_priority& out) {
  read_members(in, at, value, field{"type", out.type}, field{"key", out.key}, field{"order", out.order});
}

struct rest_label_selector {
  string_map match_labels;
};
inline void read_value(reader& in, place const& at, boost::json::value const& value, rest_label_selector& out) {
  read_members(in, at, value, field{"matchLabels", out.match_labels});
}

struct rest_multi_cluster {
  bool enabled{false};
  rest_label_selector policy_selector;
};
inline void read_value(reader& in, place const& at, boost::json::value const& value, rest_multi_cluster& out) {
  read_members(in, at, value, field{"enabled", out.enabled}, field{"policySelector", out.policy_selector});
}

struct rest_request {
  shared_string namespace_;
  rest_multi_cluster multi_cluster;
  std::optional<rest_selector> required;
  std::vector<rest_selector> preferred;
  rest_enum scheduling{{"Packed", "Distributed"}};
  meta_patch old_metadata;
  std::optional<meta_patch> metadata;
  std::vector<rest_selector> selectors;
  std::vector<rest_priority> priorities;
  named_map<counter_action> counters;
  named_map<list_action> lists;
};
inline void read_value(reader& in, place const& at, boost::json::value const& value, rest_request& out) {
  read_members(in, at, value, field{"namespace", out.namespace_}, field{"multiClusterSetting", out.multi_cluster},
               field{"requiredGameServerSelector", out.required}, field{"preferredGameServerSelectors", out.preferred},
               field{"scheduling", out.scheduling}, field{"metaPatch", out.old_metadata},
               field{"metadata", out.metadata}, field{"gameServerSelectors", out.selectors},
               field{"priorities", out.priorities}, field{"counters", out.counters}, field{"lists", out.lists});
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire
