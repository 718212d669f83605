#pragma once

#include <agones_alloc/embedded/ipv4.hpp>
#include <agones_alloc/embedded/simulator_options.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

template <class Number>
void check_between(field_errors& errors, char const* field, Number value, Number min, Number max) {
  if (value >= min && value <= max) return;
  errors.push_back({field_error_type::invalid, field, std::to_string(value),
                    "must be between " + std::to_string(min) + " and " + std::to_string(max)});
}

inline void check_range(field_errors& errors, std::string field, duration_range const& range) {
  if (range.min.count() >= 0 && range.min <= range.max && range.max <= longest_duration) return;
  errors.push_back(
      {field_error_type::invalid, std::move(field),
       std::to_string(range.min.count()) + "ns-" + std::to_string(range.max.count()) + "ns",
       "must begin at 0 or later, and end no earlier than it begins and no later than " + to_string(longest_duration)});
}

inline auto is_node_prefix(std::string_view text) noexcept -> bool {
  auto const small = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= 50 && small(text.front()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return small(c) || c == '-' || c == '.'; });
}

}  // namespace detail

AGONES_ALLOC_DECL auto validate(simulator_options const& o) -> field_errors {
  field_errors errors;
  detail::check_between<std::uint32_t>(errors, "max_nodes", o.max_nodes, 1, 100'000);
  detail::check_between<std::uint32_t>(errors, "node_count", o.node_count, 1, std::max(o.max_nodes, 1U));
  detail::check_between<std::uint32_t>(errors, "node_capacity", o.node_capacity, 1, 10'000);
  if (!detail::is_node_prefix(o.node_prefix)) {
    errors.push_back({field_error_type::invalid, "node_prefix", go_quoted(o.node_prefix.substr(0, 64)),
                      "must be 1 to 50 lower-case letters, digits, dashes and dots, the first a letter or digit"});
  }
  auto const address = parse_ipv4(o.first_address);
  if (!address) {
    errors.push_back({field_error_type::invalid, "first_address", go_quoted(o.first_address.substr(0, 64)),
                      "must be an IPv4 address"});
  } else if (!o.same_address && *address > 0xffffffffU - o.max_nodes) {
    errors.push_back({field_error_type::invalid, "first_address", go_quoted(o.first_address),
                      "leaves no addresses for max_nodes nodes"});
  }
  detail::check_between<std::int32_t>(errors, "min_port", o.min_port, 1, 65535);
  detail::check_between<std::int32_t>(errors, "max_port", o.max_port, std::clamp(o.min_port, 1, 65535), 65535);
  detail::check_range(errors, "settings.start_up", o.settings.start_up);
  if (o.settings.session_length) detail::check_range(errors, "settings.session_length", *o.settings.session_length);
  if (o.settings.session_start) detail::check_range(errors, "settings.session_start", *o.settings.session_start);
  detail::check_between<double>(errors, "settings.session_start_failure", o.settings.session_start_failure, 0, 1);
  detail::check_range(errors, "settings.shut_down", o.settings.shut_down);
  detail::check_between<double>(errors, "settings.start_failure", o.settings.start_failure, 0, 1);
  if (!(o.speed > 0 && o.speed <= 1e6)) {
    errors.push_back(
        {field_error_type::invalid, "speed", std::to_string(o.speed), "must be above 0 and at most 1000000"});
  }
  detail::check_between<std::uint32_t>(errors, "max_servers", o.max_servers, 1, 10'000'000);
  return errors;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
