#pragma once

#include <agones_alloc/select/kubernetes_names.hpp>

#include <algorithm>
#include <cstddef>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline constexpr std::size_t max_label_length = 63;
inline constexpr std::size_t max_subdomain_length = 253;

// Own tests instead of <cctype>: those depend on the locale.
inline constexpr auto is_lower_or_digit(char c) noexcept -> bool {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
inline constexpr auto is_alphanumeric(char c) noexcept -> bool {
  return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z');
}

/// ([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]
inline auto is_label_word(std::string_view text) noexcept -> bool {
  return !text.empty() && is_alphanumeric(text.front()) && is_alphanumeric(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

/// Dot-separated words of [a-z0-9-], each beginning and ending with a letter or digit.
inline auto is_dns_subdomain(std::string_view text) noexcept -> bool {
  while (true) {
    auto const dot = text.find('.');
    auto const word = text.substr(0, dot);
    if (word.empty() || !is_lower_or_digit(word.front()) || !is_lower_or_digit(word.back())) return false;
    if (!std::all_of(word.begin(), word.end(), [](char c) { return is_lower_or_digit(c) || c == '-'; })) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

// The double spaces are Kubernetes' own.
inline constexpr std::string_view qualified_name_text =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
inline constexpr std::string_view label_value_text =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
inline constexpr std::string_view dns_subdomain_text =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

inline auto too_long_text(std::size_t limit) -> std::string {
  return "must be no more than " + std::to_string(limit) + " characters";
}

}  // namespace detail

AGONES_ALLOC_DECL auto qualified_name_problems(std::string_view text) -> std::vector<std::string> {
  std::vector<std::string> problems;
  auto name = text;
  if (auto const slash = text.find('/'); slash != std::string_view::npos) {
    auto const prefix = text.substr(0, slash);
    name = text.substr(slash + 1);
    if (name.find('/') != std::string_view::npos) {
      problems.push_back("a qualified name " + std::string{detail::qualified_name_text} +
                         " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')");
      return problems;
    }
    if (prefix.empty()) {
      problems.emplace_back("prefix part must be non-empty");
    } else {
      for (auto const& problem : dns_subdomain_problems(prefix)) problems.push_back("prefix part " + problem);
    }
  }
  if (name.empty()) {
    problems.emplace_back("name part must be non-empty");
  } else if (name.size() > detail::max_label_length) {
    problems.push_back("name part " + detail::too_long_text(detail::max_label_length));
  }
  if (!detail::is_label_word(name)) problems.push_back("name part " + std::string{detail::qualified_name_text});
  return problems;
}

AGONES_ALLOC_DECL auto label_value_problems(std::string_view text) -> std::vector<std::string> {
  std::vector<std::string> problems;
  if (text.size() > detail::max_label_length) problems.push_back(detail::too_long_text(detail::max_label_length));
  if (!text.empty() && !detail::is_label_word(text)) problems.emplace_back(detail::label_value_text);
  return problems;
}

AGONES_ALLOC_DECL auto dns_subdomain_problems(std::string_view text) -> std::vector<std::string> {
  std::vector<std::string> problems;
  if (text.size() > detail::max_subdomain_length)
    problems.push_back(detail::too_long_text(detail::max_subdomain_length));
  if (!detail::is_dns_subdomain(text)) problems.emplace_back(detail::dns_subdomain_text);
  return problems;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
