// JSON text, appended piece by piece; commas take care of themselves.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/detail/escape.hpp>
#include <agones_alloc/model/named_map.hpp>
#include <agones_alloc/model/shared_string.hpp>
#include <agones_alloc/model/string_map.hpp>

#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Keys are literals of the wire format and go out unescaped, `entry` escapes.
class writer {
 public:
  explicit writer(std::string& out) noexcept : out_{out} {}

  void open(char bracket) {
    separate();
    out_ += bracket;
  }
  void close(char bracket) { out_ += bracket; }
  void key(std::string_view name) {
    separate();
    out_ += '"';
    out_.append(name).append("\":");
  }
  void entry(std::string_view name) {
    separate();
    append_escaped(out_, name);
    out_ += ':';
  }
  void text(std::string_view value) {
    separate();
    append_escaped(out_, value);
  }
  void number(std::int64_t value) {
    separate();
    digits(value);
  }
  /// A 64-bit integer as proto-JSON has it: in quotes.
  void quoted_number(std::int64_t value) {
    separate();
    out_ += '"';
    digits(value);
    out_ += '"';
  }
  /// JSON text as it is: a kept document, `null`, `true`.
  void raw(std::string_view json) {
    separate();
    out_.append(json);
  }
  auto out() noexcept -> std::string& { return out_; }

 private:
  // What precedes a value decides: after a bracket, a colon or nothing there is no comma. A text ends with a quote, so a
  // bracket inside it is never mistaken.
  void separate() {
    if (begun_ && out_.back() != '{' && out_.back() != '[' && out_.back() != ':') out_ += ',';
    begun_ = true;
  }
  void digits(std::int64_t value) {
    std::array<char, 20> buffer;
    auto const end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
    out_.append(buffer.data(), end);
  }

  std::string& out_;
  bool begun_{false};
};

inline void write_value(writer& to, shared_string const& value) { to.text(value); }
template <class Integer>
  requires std::is_integral_v<Integer>
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
