// Where in a document a reader is: a chain on the stack, turned into text only for an error.
#pragma once

#include <agones_alloc/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire {

class place {
 public:
  place() noexcept = default;

  auto member(std::string_view name) const noexcept -> place { return {this, kind::member, name, 0}; }
  auto entry(std::string_view key) const noexcept -> place { return {this, kind::entry, key, 0}; }
  auto element(std::size_t index) const noexcept -> place { return {this, kind::element, {}, index}; }

  /// `spec.selectors[0].counters[rooms]`.
  auto text() const -> std::string {
    if (parent_ == nullptr) return std::string{name_};
    auto out = parent_->text();
    switch (kind_) {
      case kind::member:
        if (!out.empty()) out += '.';
        out += shown();
        break;
      case kind::entry: out.append("[").append(shown()).append("]"); break;
      case kind::element: out.append("[").append(std::to_string(index_)).append("]"); break;
    }
    return out;
  }

  /// A root with a path of its own, for readers of a part.
  static auto root(std::string_view path) noexcept -> place { return {nullptr, kind::member, path, 0}; }

 private:
  enum class kind : std::uint8_t { member, entry, element };
  place(place const* parent, kind k, std::string_view name, std::size_t index) noexcept
      : parent_{parent}, name_{name}, index_{index}, kind_{k} {}

  // Keys come from outside and have any length.
  auto shown() const -> std::string {
    constexpr std::size_t longest = 128;
    std::string out{name_.substr(0, longest)};
    if (name_.size() > longest) out += "...";
    return out;
  }

  place const* parent_{nullptr};
  std::string_view name_;
  std::size_t index_{0};
  kind kind_{kind::member};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire
