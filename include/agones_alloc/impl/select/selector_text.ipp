#pragma once

#include <agones_alloc/select/selector_text.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

class selector_reader {
 public:
  explicit selector_reader(std::string_view text) : text_{text} {}

  auto read() -> std::variant<label_selector, std::string> {
    label_selector out;
    skip_space();
    while (at_ != text_.size() && problem_.empty()) {
      out.match_expressions.push_back(requirement());
      skip_space();
      if (at_ == text_.size() || !problem_.empty()) break;
      if (!take(',')) {
        fail("a comma is wanted");
      } else if (skip_space(); at_ == text_.size()) {
        fail("a requirement is wanted after the comma");
      }
    }
    if (!problem_.empty()) return std::move(problem_);
    return out;
  }

 private:
  void fail(std::string_view what) {
    if (problem_.empty()) problem_ = std::string{what} + " at character " + std::to_string(at_ + 1);
  }
  void skip_space() {
    while (at_ != text_.size() && std::string_view{" \t\r\n"}.find(text_[at_]) != std::string_view::npos) ++at_;
  }
  auto take(char c) -> bool {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  auto word() -> std::string_view {
    skip_space();
    auto const begin = at_;
    while (at_ != text_.size() && std::string_view{" \t\r\n,=!()<>"}.find(text_[at_]) == std::string_view::npos) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  auto requirement() -> label_requirement {
    label_requirement out;
    bool const absent = take('!');
    out.key = word();
    if (out.key.empty()) fail("a key is wanted");
    out.op = absent ? "DoesNotExist" : "Exists";
    skip_space();
    if (absent || at_ == text_.size() || text_[at_] == ',') return out;
    if (take('=')) {
      take('=');
      out.op = "In";
      out.values.emplace_back(word());
    } else if (take('!')) {
      if (!take('=')) fail("!= is wanted");
      out.op = "NotIn";
      out.values.emplace_back(word());
    } else if (text_[at_] == '<' || text_[at_] == '>') {
      fail("< and > are not supported");
    } else {
      auto const op = word();
      if (op != "in" && op != "notin") fail("one of =, ==, !=, in, notin is wanted");
      out.op = op == "in" ? "In" : "NotIn";
      set(out.values);
    }
    return out;
  }

  void set(std::vector<shared_string>& values) {
    skip_space();
    if (!take('(')) return fail("( is wanted");
    do {
      values.emplace_back(word());
      skip_space();
    } while (take(','));
    if (!take(')')) fail(") is wanted");
  }

  std::string_view text_;
  std::size_t at_{0};
  std::string problem_;
};

}  // namespace detail

AGONES_ALLOC_DECL auto parse_label_selector(std::string_view text) -> std::variant<label_selector, std::string> {
  return detail::selector_reader{text}.read();
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
