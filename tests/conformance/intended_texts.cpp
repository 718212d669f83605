// Intended texts of refusals.
#include "intended.hpp"

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace conformance {
namespace {

constexpr std::string_view literal_start = "v1.LabelSelector{";

/// Reads the Go literal of a label selector and says the same in one line: `{a=b, c In (d, e)}`.
class go_literal {
 public:
  explicit go_literal(std::string_view text) : text_{text} {}

  auto compact() -> std::string {
    take(literal_start);
    take("MatchLabels:map[string]string");
    if (!skip("(nil)")) {
      for (take("{"); !skip("}");) {
        auto const key = quoted();
        take(":");
        add(key + "=" + quoted());
        skip(", ");
      }
    }
    take(", MatchExpressions:[]v1.LabelSelectorRequirement");
    if (!skip("(nil)")) {
      for (take("{"); !skip("}");) {
        requirement();
        skip(", ");
      }
    }
    take("}");
    return "{" + out_ + "}";
  }

  auto length() const noexcept -> std::size_t { return at_; }

 private:
  void requirement() {
    take("v1.LabelSelectorRequirement{Key:");
    auto shown = quoted();
    take(", Operator:");
    shown += " " + quoted();
    take(", Values:[]string");
    std::string values;
    if (!skip("(nil)") && !skip("{}")) {
      take("{");
      values = " (" + quoted();
      while (skip(", ")) values += ", " + quoted();
      take("}");
      values += ")";
    }
    take("}");
    add(shown + values);
  }

  void add(std::string const& part) { out_ += (out_.empty() ? "" : ", ") + part; }

  auto skip(std::string_view wanted) -> bool {
    if (text_.substr(at_, wanted.size()) != wanted) return false;
    at_ += wanted.size();
    return true;
  }

  void take(std::string_view wanted) {
    if (!skip(wanted)) throw std::runtime_error{"not a Go literal of a label selector: " + std::string{text_}};
  }

  auto quoted() -> std::string {
    take("\"");
    std::string out;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
      out += text_[at_];
    }
    take("\"");
    return out;
  }

  std::string_view text_;
  std::size_t at_{0};
  std::string out_;
};

auto compacted(std::string_view text) -> std::string {
  std::string out;
  for (auto at = text.find(literal_start); at != std::string_view::npos; at = text.find(literal_start)) {
    out += text.substr(0, at);
    go_literal literal{text.substr(at)};
    out += literal.compact();
    text.remove_prefix(at + literal.length());
  }
  return out.append(text);
}

void compact_all(json::value& value) {
  if (auto* text = value.if_string()) {
    *text = compacted(*text);
  } else if (auto* array = value.if_array()) {
    for (auto& element : *array) compact_all(element);
  } else if (auto* object = value.if_object()) {
    for (auto& [key, member] : *object) compact_all(member);
  }
}

}  // namespace

auto with_compact_selector(answer const& given) -> intended_answer {
  auto out = given.expected;
  compact_all(out);
  return out;
}

}  // namespace conformance
