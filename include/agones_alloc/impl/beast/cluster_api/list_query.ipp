#pragma once

#include <agones_alloc/beast/cluster_api/list_query.hpp>
#include <agones_alloc/beast/query_string.hpp>
#include <agones_alloc/model/field_error.hpp>
#include <agones_alloc/select/selector_text.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

/// The first value of a parameter, as Kubernetes takes it; "" when it is absent.
inline auto first_value(std::string_view query, std::string_view name) -> std::string {
  auto values = query_values(query, name);
  return values.empty() ? std::string{} : std::move(values.front());
}

inline auto query_problem(std::string_view name, std::string_view value, std::string_view wanted) -> std::string {
  return std::string{name} + ": Invalid value: " + go_quoted(value) + ": " + std::string{wanted};
}

/// Go's words for a boolean; nullopt for others. "" is false.
inline auto query_flag(std::string_view word) noexcept -> std::optional<bool> {
  for (auto const* yes : {"1", "t", "T", "true", "TRUE", "True"}) {
    if (word == yes) return true;
  }
  for (auto const* no : {"", "0", "f", "F", "false", "FALSE", "False"}) {
    if (word == no) return false;
  }
  return std::nullopt;
}

inline auto query_number(std::string_view word) noexcept -> std::optional<std::int64_t> {
  std::int64_t value = 0;
  auto const* const end = word.data() + word.size();
  auto const [stopped, fault] = std::from_chars(word.data(), end, value);
  if (word.empty() || fault != std::errc{} || stopped != end || value < 0) return std::nullopt;
  return value;
}

inline auto is_version(std::string_view text) noexcept -> bool {
  return text.size() <= 20 && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// So that nobody's selector takes long for every object there is.
inline constexpr std::size_t longest_text = 4096;
inline constexpr std::size_t most_requirements = 64;

inline auto too_much(std::string_view name) -> std::string {
  return std::string{name} + ": is longer than " + std::to_string(longest_text) + " characters, or has more than " +
         std::to_string(most_requirements) + " requirements";
}

/// Which combinations say something (Kubernetes' own rules); nullopt: these do.
inline auto combination_problem(list_query const& q, std::string_view match_word) -> std::optional<std::string> {
  bool const any = q.resource_version.empty() || q.resource_version == "0";
  if (!q.continue_token.empty() && !any) {
    return query_problem("resourceVersion", q.resource_version, "makes no sense together with continue");
  }
  if (q.watch && q.initial_events != (q.match == version_match::not_older)) {
    return query_problem("resourceVersionMatch", match_word, "a watch takes NotOlderThan, together with sendInitialEvents=true");
  }
  if (!q.watch && q.initial_events) return query_problem("sendInitialEvents", "true", "is of a watch");
  if (!q.watch && q.match != version_match::any && q.resource_version.empty()) {
    return query_problem("resourceVersionMatch", match_word, "needs a resourceVersion");
  }
  if (q.match == version_match::exact && q.resource_version == "0") {
    return query_problem("resourceVersionMatch", match_word, "resourceVersion 0 is none");
  }
  return std::nullopt;
}

}  // namespace detail

AGONES_ALLOC_DECL auto parse_field_terms(std::string_view text) -> std::variant<std::vector<field_term>, std::string> {
  std::vector<field_term> out;
  while (!text.empty()) {
    auto const end = std::min(text.find(','), text.size());
    auto const term = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (term.empty()) continue;
    auto const sign = std::min(term.find_first_of("=!"), term.size());
    auto rest = term.substr(sign);
    bool const differs = rest.starts_with("!=");
    if (!differs && !rest.starts_with("=")) {
      return "invalid selector: " + go_quoted(term) + ": FIELD=VALUE or FIELD!=VALUE is expected";
    }
    rest.remove_prefix(differs || rest.starts_with("==") ? 2 : 1);
    out.push_back({std::string{term.substr(0, sign)}, !differs, std::string{rest}});
  }
  return out;
}

AGONES_ALLOC_DECL auto parse_field_query(std::string_view text)
    -> std::variant<std::vector<field_requirement>, std::string> {
  auto terms = parse_field_terms(text);
  if (auto* const problem = std::get_if<std::string>(&terms)) return std::move(*problem);
  std::vector<field_requirement> out;
  for (auto& term : *std::get_if<std::vector<field_term>>(&terms)) {
    bool const name = term.field == "metadata.name";
    if (!name && term.field != "metadata.namespace") {
      return "field label not supported: " + term.field + " (metadata.name and metadata.namespace are)";
    }
    out.push_back({name ? field_requirement::field::name : field_requirement::field::namespace_, term.equal, std::move(term.value)});
  }
  return out;
}

AGONES_ALLOC_DECL auto read_list_query(std::string_view query) -> std::variant<list_query, std::string> {
  list_query out;
  if (query.empty()) return out;
  auto const value = [query](std::string_view name) { return detail::first_value(query, name); };

  auto const label_text = value("labelSelector");
  auto const field_text = value("fieldSelector");
  if (label_text.size() > detail::longest_text) return detail::too_much("labelSelector");
  if (field_text.size() > detail::longest_text) return detail::too_much("fieldSelector");
  auto const labels = parse_label_selector(label_text);
  if (auto const* problem = std::get_if<std::string>(&labels)) return "labelSelector: " + *problem;
  if (auto problem = compile_labels(*std::get_if<label_selector>(&labels), out.labels)) return "labelSelector: " + *problem;
  if (out.labels.size() > detail::most_requirements) return detail::too_much("labelSelector");
  auto fields = parse_field_query(field_text);
  if (auto const* problem = std::get_if<std::string>(&fields)) return "fieldSelector: " + *problem;
  out.fields = std::move(*std::get_if<std::vector<field_requirement>>(&fields));
  if (out.fields.size() > detail::most_requirements) return detail::too_much("fieldSelector");

  for (auto const& [name, target] : {std::pair{"watch", &out.watch}, std::pair{"allowWatchBookmarks", &out.bookmarks},
                                     std::pair{"sendInitialEvents", &out.initial_events}}) {
    auto const word = value(name);
    auto const flag = detail::query_flag(word);
    if (!flag) return detail::query_problem(name, word, "must be true or false");
    *target = *flag;
  }
  if (auto const word = value("limit"); !word.empty()) {
    auto const number = detail::query_number(word);
    if (!number) return detail::query_problem("limit", word, "must be a number of at least 0");
    out.limit = static_cast<std::size_t>(*number);
  }
  if (auto const word = value("timeoutSeconds"); !word.empty()) {
    auto const number = detail::query_number(word);
    if (!number) return detail::query_problem("timeoutSeconds", word, "must be a number of at least 0");
    out.time = std::chrono::seconds{std::min<std::int64_t>(*number, 1'000'000'000)};
  }
  out.continue_token = value("continue");
  out.resource_version = value("resourceVersion");
  if (!detail::is_version(out.resource_version)) {
    return detail::query_problem("resourceVersion", out.resource_version, "is none of this server's");
  }
  auto const match = value("resourceVersionMatch");
  if (match == "Exact") {
    out.match = version_match::exact;
  } else if (match == "NotOlderThan") {
    out.match = version_match::not_older;
  } else if (!match.empty()) {
    return detail::query_problem("resourceVersionMatch", match, "supported values: \"Exact\", \"NotOlderThan\"");
  }
  auto const rows = value("includeObject");
  if (rows == "None") {
    out.rows = row_object::none;
  } else if (rows == "Object") {
    out.rows = row_object::whole;
  } else if (!rows.empty() && rows != "Metadata") {
    return detail::query_problem("includeObject", rows, "supported values: \"Metadata\", \"None\", \"Object\"");
  }
  if (auto problem = detail::combination_problem(out, match)) return *std::move(problem);
  return out;
}

AGONES_ALLOC_DECL auto asks_for_watch(std::string_view query) -> std::optional<bool> {
  return detail::query_flag(detail::first_value(query, "watch"));
}

AGONES_ALLOC_DECL auto is_selected(list_query const& query, object_meta const& meta, string_map const& labels) noexcept
    -> bool {
  for (auto const& one : query.fields) {
    auto const& value = one.of == field_requirement::field::name ? meta.name : meta.namespace_;
    if ((value == std::string_view{one.value}) != one.equal) return false;
  }
  return matches_labels(query.labels, labels);
}

AGONES_ALLOC_DECL auto is_selected(list_query const& query, object_meta const& meta) noexcept -> bool {
  return is_selected(query, meta, meta.labels);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
