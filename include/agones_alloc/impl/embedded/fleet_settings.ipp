#pragma once

#include <agones_alloc/embedded/fleet_settings.hpp>

#include <charconv>
#include <string>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline void add_setting_error(field_errors& errors, std::string_view key, std::string_view value, std::string detail) {
  errors.push_back({field_error_type::invalid, "metadata.annotations[" + std::string{key} + "]",
                    go_quoted(value.substr(0, 64)), std::move(detail)});
}

inline void read_range(string_map const& annotations, std::string_view key, duration_range& out, field_errors& errors) {
  auto const text = annotations.find(key);
  if (!text) return;
  if (auto const range = parse_duration_range(*text)) {
    out = *range;
  } else {
    add_setting_error(errors, key, *text, "must be a duration such as 2s, or a range such as 1s-3s");
  }
}

inline void read_range_or_never(string_map const& annotations, std::string_view key, std::optional<duration_range>& out,
                                field_errors& errors) {
  auto const text = annotations.find(key);
  if (!text) return;
  if (*text == "never") {
    out.reset();
  } else if (auto const range = parse_duration_range(*text)) {
    out = *range;
  } else {
    add_setting_error(errors, key, *text, "must be a duration such as 10m, a range such as 5m-10m, or never");
  }
}

inline void read_chance(string_map const& annotations, std::string_view key, double& out, field_errors& errors) {
  auto const text = annotations.find(key);
  if (!text) return;
  double chance = -1;
  auto const [end, error] = std::from_chars(text->data(), text->data() + text->size(), chance);
  if (error == std::errc{} && end == text->data() + text->size() && chance >= 0 && chance <= 1) {
    out = chance;
  } else {
    add_setting_error(errors, key, *text, "must be a number from 0 to 1");
  }
}

}  // namespace detail

AGONES_ALLOC_DECL auto settings_from(string_map const& annotations, fleet_settings const& defaults,
                                     field_errors& errors) -> fleet_settings {
  auto out = defaults;
  detail::read_range(annotations, keys::start_up_annotation, out.start_up, errors);
  detail::read_range(annotations, keys::shut_down_annotation, out.shut_down, errors);
  detail::read_range_or_never(annotations, keys::session_length_annotation, out.session_length, errors);
  detail::read_range_or_never(annotations, keys::session_start_annotation, out.session_start, errors);
  detail::read_chance(annotations, keys::start_failure_annotation, out.start_failure, errors);
  detail::read_chance(annotations, keys::session_start_failure_annotation, out.session_start_failure, errors);
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
