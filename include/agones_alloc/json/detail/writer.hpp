// JSON text, appended piece by piece; commas take care of themselves.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/detail/escape.hpp>
#include <agones_alloc/model/named_map.hpp>
#include <agones_alloc/model/shared_string.hpp>
#include <agones_alloc/model/string_map.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Keys are literals of the wire format and go out unescaped, `entry` escapes. The string is complete when the writer is
/// gone: `written` for a string that is returned.
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
  // What precedes a value decides: after a bracket, a colon or nothing there is no comma. A text ends with a quote, so a
  // bracket inside it is never mistaken.
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

inline void write_value(writer& to, shared_string const& value) { to.text(value); }
template <class Integer>
  requires(std::is_integral_v<Integer> && !std::is_same_v<Integer, bool>)
void write_value(writer& to, Integer value) {
  to.number(value);
}
template <class T>
void write_value(writer& to, std::vector<T> const& values) {
  to.open('[');
  for (auto const& value : values) write_value(to, value);
  to.close(']');
}
inline void write_value(writer& to, string_map const& map) {
  to.open('{');
  for (auto const [name, value] : map) {
    to.entry(name);
    to.text(value);
  }
  to.close('}');
}
template <class Value>
void write_value(writer& to, named_map<Value> const& map) {
  to.open('{');
  for (auto const& [name, value] : map) {
    to.entry(name);
    write_value(to, value);
  }
  to.close('}');
}

template <class T>
void write_member(writer& to, std::string_view name, T const& value) {
  to.key(name);
  write_value(to, value);
}
/// Left out when empty.
template <class T>
void write_non_empty(writer& to, std::string_view name, T const& value) {
  if (!value.empty()) write_member(to, name, value);
}
/// Left out when absent: a present zero is printed.
template <class Optional>
void write_present(writer& to, std::string_view name, Optional const& value) {
  if (value) write_member(to, name, *value);
}
inline void write_non_zero(writer& to, std::string_view name, std::int64_t value) {
  if (value != 0) write_member(to, name, value);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
