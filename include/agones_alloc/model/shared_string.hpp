// An immutable string in eight bytes whose copies share one buffer.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/detail/bring_near.hpp>
#include <agones_alloc/detail/reference_count.hpp>
#include <agones_alloc/detail/small_blocks.hpp>

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <new>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

class shared_string;

namespace detail {
/// What compares with a shared_string without becoming one: literals, std::string, std::string_view.
template <class T>
concept text_like = std::convertible_to<T const&, std::string_view> && !std::same_as<T, shared_string>;
}  // namespace detail

/// Text of a model value: immutable, cheap to copy, empty by default.
///
/// A cache of a million servers copies and keeps many of these; std::string is four
/// times as large and copies its characters. Converts implicitly from and to
/// std::string_view. Thread safety: as std::shared_ptr<std::string const>.
class shared_string {
 public:
  shared_string() noexcept = default;
  shared_string(std::string_view text) : rep_{make(text)} {}
  shared_string(std::string const& text) : shared_string(std::string_view{text}) {}
  shared_string(char const* text) : shared_string(std::string_view{text}) {}
  AGONES_ALLOC_INLINE shared_string(shared_string const& other) noexcept : rep_{other.rep_} {
    if (rep_ != nullptr) rep_->references.add();
  }
  AGONES_ALLOC_INLINE shared_string(shared_string&& other) noexcept : rep_{std::exchange(other.rep_, nullptr)} {}
  AGONES_ALLOC_INLINE auto operator=(shared_string const& other) noexcept -> shared_string& {
    // The buffer is often the same, and far from the processor: then it is not touched.
    if (rep_ != other.rep_) shared_string{other}.swap(*this);
    return *this;
  }
  AGONES_ALLOC_INLINE auto operator=(shared_string&& other) noexcept -> shared_string& {
    shared_string{std::move(other)}.swap(*this);
    return *this;
  }
  AGONES_ALLOC_INLINE ~shared_string() {
    if (rep_ != nullptr && rep_->references.drop()) forget(rep_);
  }
  AGONES_ALLOC_INLINE void swap(shared_string& other) noexcept { std::swap(rep_, other.rep_); }
  /// Asks for the buffer, before it is needed.
  void bring_near() const noexcept { detail::bring_near(rep_); }

  /// Of `size` characters that `fill(char*)` writes, all of them.
  template <class Fill>
  static auto filled(std::size_t size, Fill fill) -> shared_string {
    shared_string out;
    if (size == 0) return out;
    out.rep_ = allocate(size);
    fill(out.rep_->text());
    return out;
  }

  AGONES_ALLOC_INLINE auto view() const noexcept -> std::string_view {
    return rep_ == nullptr ? std::string_view{} : std::string_view{rep_->text(), rep_->size};
  }
  AGONES_ALLOC_INLINE operator std::string_view() const noexcept { return view(); }
  auto str() const -> std::string { return std::string{view()}; }
  AGONES_ALLOC_INLINE auto size() const noexcept -> std::size_t { return rep_ == nullptr ? 0 : rep_->size; }
  auto empty() const noexcept -> bool { return rep_ == nullptr; }
  /// True when both share one buffer (a fast path for equality).
  auto same_buffer(shared_string const& other) const noexcept -> bool { return rep_ == other.rep_; }

  AGONES_ALLOC_INLINE friend auto operator==(shared_string const& a, shared_string const& b) noexcept -> bool {
    return a.rep_ == b.rep_ || a.view() == b.view();
  }
  template <detail::text_like Text>
  friend auto operator==(shared_string const& a, Text const& b) noexcept -> bool {
    return a.view() == std::string_view{b};
  }
  friend auto operator<=>(shared_string const& a, shared_string const& b) noexcept -> std::strong_ordering {
    return a.view() <=> b.view();
  }
  template <detail::text_like Text>
  friend auto operator<=>(shared_string const& a, Text const& b) noexcept -> std::strong_ordering {
    return a.view() <=> std::string_view{b};
  }
  friend auto operator<<(std::ostream& out, shared_string const& text) -> std::ostream& { return out << text.view(); }

 private:
  struct rep {
    detail::reference_count references;
    std::uint32_t size{0};
    auto text() noexcept -> char* { return reinterpret_cast<char*>(this + 1); }
  };

  static auto allocate(std::size_t size) -> rep* {
    if (size > std::numeric_limits<std::uint32_t>::max()) throw std::length_error{"shared_string"};
    auto* made = ::new (detail::small_blocks::take(sizeof(rep) + size)) rep;
    made->size = static_cast<std::uint32_t>(size);
    return made;
  }
  [[gnu::noinline]] static void forget(rep* last) noexcept {
    auto const size = sizeof(rep) + last->size;
    last->~rep();
    detail::small_blocks::give(last, size);
  }
  static auto make(std::string_view text) -> rep* {
    if (text.empty()) return nullptr;
    auto* made = allocate(text.size());
    std::memcpy(made->text(), text.data(), text.size());
    return made;
  }

  rep* rep_{nullptr};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

template <>
struct std::hash<agones_alloc::shared_string> {
  auto operator()(agones_alloc::shared_string const& text) const noexcept -> std::size_t {
    return std::hash<std::string_view>{}(text.view());
  }
};
