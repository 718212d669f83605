#pragma once

#include <agones_alloc/model/field_error.hpp>
#include <agones_alloc/model/selector.hpp>
#include <agones_alloc/select/label_query.hpp>

#include <optional>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

/// Cuts words and signs off the text of a query. A word ends at white space or a sign.
class label_query_words {
 public:
  explicit label_query_words(std::string_view text) : rest_{text} { skip_space(); }

  auto at_end() const noexcept -> bool { return rest_.empty(); }
  auto rest() const noexcept -> std::string_view { return rest_; }
  /// Takes the sign if it is next.
  auto take(std::string_view sign) noexcept -> bool {
    if (!rest_.starts_with(sign)) return false;
    rest_.remove_prefix(sign.size());
    skip_space();
    return true;
  }
  /// "" when a sign is next.
  auto word() noexcept -> std::string_view {
    auto const end = rest_.find_first_of(" \t\r\n=!,()<>");
    auto const out = rest_.substr(0, end);
    rest_.remove_prefix(out.size());
    skip_space();
    return out;
  }

 private:
  void skip_space() noexcept {
    auto const begin = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(begin == std::string_view::npos ? rest_.size() : begin);
  }
  std::string_view rest_;
};

/// The values in parentheses; nullopt when they are not well formed. `()` is the empty value.
inline auto label_query_values(label_query_words& in) -> std::optional<std::vector<shared_string>> {
  std::vector<shared_string> out;
  if (!in.take("(")) return std::nullopt;
  do out.emplace_back(in.word());
  while (in.take(","));
  if (!in.take(")")) return std::nullopt;
  return out;
}

/// One requirement, or what is wrong with it.
inline auto label_query_requirement(label_query_words& in) -> std::variant<label_requirement, std::string> {
  auto const from = in.rest();
  auto const wrong = [&](std::string_view why) {
    return "unable to parse requirement: " + go_quoted(from) + ": " + std::string{why};
  };
  bool const absent = in.take("!");
  label_requirement out;
  out.key = shared_string{in.word()};
  if (out.key.empty()) return wrong("a label's key is expected");
  if (absent || in.at_end() || in.rest().front() == ',') {
    out.op = shared_string{absent ? "DoesNotExist" : "Exists"};
    return out;
  }
  bool const differs = in.take("!=");
  if (differs || in.take("==") || in.take("=")) {
    out.op = shared_string{differs ? "NotIn" : "In"};
    out.values.emplace_back(in.word());
    return out;
  }
  if (in.rest().front() == '<' || in.rest().front() == '>') return wrong("< and > are not supported");
  auto const op = in.word();
  if (op != "in" && op != "notin") return wrong("=, ==, !=, in or notin is expected after the key");
  auto values = label_query_values(in);
  if (!values) return wrong("values in parentheses are expected, with commas between them");
  out.op = shared_string{op == "in" ? "In" : "NotIn"};
  out.values = *std::move(values);
  return out;
}

}  // namespace detail

AGONES_ALLOC_DECL auto parse_label_query(std::string_view text) -> std::variant<std::vector<label_clause>, std::string> {
  label_selector selector;
  detail::label_query_words in{text};
  while (!in.at_end()) {
    auto one = detail::label_query_requirement(in);
    if (auto* const problem = std::get_if<std::string>(&one)) return std::move(*problem);
    selector.match_expressions.push_back(std::move(*std::get_if<label_requirement>(&one)));
    if (in.at_end()) break;
    if (!in.take(",")) return "unable to parse requirement: a comma is expected before " + go_quoted(in.rest());
    if (in.at_end()) return std::string{"unable to parse requirement: nothing comes after the last comma"};
  }
  std::vector<label_clause> out;
  if (auto problem = compile_labels(selector, out)) return *std::move(problem);
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
