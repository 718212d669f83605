// Arrays, maps and members of anything that can be written.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/detail/writer.hpp>
#include <agones_alloc/model/named_map.hpp>
#include <agones_alloc/model/shared_copy.hpp>
#include <agones_alloc/model/shared_string.hpp>
#include <agones_alloc/model/string_map.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire {

inline void write_value(writer& to, shared_string const& value) { to.text(value); }
/// Sizes and counts are never beyond an int64.
template <class Integer>
  requires(std::is_integral_v<Integer> && !std::is_same_v<Integer, bool>)
void write_value(writer& to, Integer value) {
  to.number(static_cast<std::int64_t>(value));
}
template <class T>
void write_value(writer& to, std::vector<T> const& values) {
  to.open('[');
  for (auto const& value : values) write_value(to, value);
  to.close(']');
}
template <class Container>
void write_value(writer& to, shared_copy<Container> const& shared) {
  write_value(to, shared.get());
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
/// Left out when absent or empty.
template <class T>
void write_non_empty(writer& to, std::string_view name, std::optional<T> const& value) {
  if (value) write_non_empty(to, name, *value);
}
/// Left out when absent: a present zero is printed.
template <class Optional>
void write_present(writer& to, std::string_view name, Optional const& value) {
  if (value) write_member(to, name, *value);
}
/// `null` when absent.
template <class T>
void write_or_null(writer& to, std::string_view name, std::optional<T> const& value) {
  if (value) return write_member(to, name, *value);
  to.key(name);
  to.raw("null");
}
inline void write_non_zero(writer& to, std::string_view name, std::int64_t value) {
  if (value != 0) write_member(to, name, value);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire
