// JSON text, appended piece by piece; commas take care of themselves.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/detail/escape.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire {

/// Keys are literals of the wire format and go out unescaped, `entry` escapes. The string is complete when the writer
/// is gone: `written` for a string that is returned.
class writer {
 public:
  explicit writer(std::string& out) : out_{out}, begin_{out.size()}, used_{out.size()} {}
  writer(writer const&) = delete;
  auto operator=(writer const&) -> writer& = delete;
  ~writer() { out_.resize(used_); }

  void open(char bracket) {
    separate();
    put(bracket);
  }
  void close(char bracket) { put(bracket); }
  void key(std::string_view name) {
    separate();
    auto* to = room(name.size() + 3);
    *to++ = '"';
    std::memcpy(to, name.data(), name.size());
    to += name.size();
    *to++ = '"';
    *to = ':';
  }
  void entry(std::string_view name) {
    text(name);
    put(':');
  }
  void text(std::string_view value) {
    separate();
    put('"');
    while (true) {
      auto const plain = plain_prefix(value);
      append(value.substr(0, plain));
      if (plain == value.size()) break;
      std::array<char, 6> buffer;
      append(escape_of(value[plain], buffer));
      value.remove_prefix(plain + 1);
    }
    put('"');
  }
  void number(std::int64_t value) {
    separate();
    digits(value);
  }
  /// A 64-bit integer as proto-JSON has it: in quotes.
  void quoted_number(std::int64_t value) {
    separate();
    put('"');
    digits(value);
    put('"');
  }
  /// JSON text as it is: a kept document, `null`, `true`.
  void raw(std::string_view json) {
    separate();
    append(json);
  }

 private:
  // What precedes a value decides: after a bracket, a colon or nothing there is no comma. A text ends with a quote, so
  // a bracket inside it is never mistaken.
  void separate() {
    if (used_ == begin_) return;
    char const last = out_[used_ - 1];
    if (last != '{' && last != '[' && last != ':') put(',');
  }
  void digits(std::int64_t value) {
    constexpr std::size_t longest = 20;
    auto* const to = room(longest);
    used_ -= longest - static_cast<std::size_t>(std::to_chars(to, to + longest, value).ptr - to);
  }
  void append(std::string_view text) {
    if (!text.empty()) std::memcpy(room(text.size()), text.data(), text.size());
  }
  void put(char c) { *room(1) = c; }
  // The string is kept longer than what is used, so that most pieces are one copy without a call.
  auto room(std::size_t size) -> char* {
    if (out_.size() - used_ < size) out_.resize(std::max(out_.capacity(), used_ + size + 512));
    auto* const at = out_.data() + used_;
    used_ += size;
    return at;
  }

  std::string& out_;
  std::size_t const begin_;
  std::size_t used_;
};

/// A document of its own.
template <class Write>
auto written(Write write) -> std::string {
  std::string out;
  {
    writer to{out};
    write(to);
  }
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire
