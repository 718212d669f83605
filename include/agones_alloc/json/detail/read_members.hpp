// Arrays, maps and objects of anything that can be read.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/detail/read_scalar.hpp>
#include <agones_alloc/json/detail/reader.hpp>
#include <agones_alloc/model/named_map.hpp>
#include <agones_alloc/model/shared_copy.hpp>
#include <agones_alloc/model/shared_string.hpp>
#include <agones_alloc/model/string_map.hpp>

#include <boost/json/value.hpp>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire {

/// Every overload is found by argument-dependent lookup on `reader`, so types may nest in any order. `null` is "as if
/// absent" everywhere.
template <class T>
void read_nullable(reader& in, place const& at, boost::json::value const& value, T& out) {
  if (in.ok() && !value.is_null()) read_value(in, at, value, out);
}

/// An element of an array or a map.
template <class T>
void read_element(reader& in, place const& at, boost::json::value const& value, T& out) {
  if (!in.ok() || (value.is_null() && in.language() == dialect::kubernetes)) return;
  read_value(in, at, value, out);
}

template <class T>
void read_value(reader& in, place const& at, boost::json::value const& value, std::optional<T>& out) {
  read_nullable(in, at, value, out.emplace());
}

template <class Container>
void read_value(reader& in, place const& at, boost::json::value const& value, shared_copy<Container>& out) {
  Container read;
  read_value(in, at, value, read);
  out = std::move(read);
}
template <class T>
void read_value(reader& in, place const& at, boost::json::value const& value, std::vector<T>& out) {
  if (!value.is_array()) return in.expected(at, "an array", value);
  auto const& array = value.get_array();
  if (!in.fits(at, array.size())) return;
  out.clear();
  out.reserve(array.size());
  for (auto const& element : array) {
    auto const index = out.size();
    read_element(in, at.element(index), element, out.emplace_back());
    if (!in.ok()) return;
  }
}

template <class T>
void read_value(reader& in, place const& at, boost::json::value const& value, named_map<T>& out) {
  if (!value.is_object()) return in.expected(at, "an object", value);
  auto const& object = value.get_object();
  if (!in.fits(at, object.size())) return;
  std::vector<boost::json::key_value_pair const*> sorted;
  sorted.reserve(object.size());
  for (auto const& member : object) sorted.push_back(&member);
  std::sort(sorted.begin(), sorted.end(),
            [](auto const* a, auto const* b) { return std::string_view{a->key()} < std::string_view{b->key()}; });
  out.clear();
  out.reserve(sorted.size());
  for (auto const* member : sorted) {
    std::string_view const key = member->key();
    auto const added = out.emplace_hint(out.end(), shared_string{key}, T{});
    read_element(in, at.entry(key), member->value(), added->second);
    if (!in.ok()) return;
  }
}

inline void read_value(reader& in, place const& at, boost::json::value const& value, string_map& out) {
  if (!value.is_object()) return in.expected(at, "an object", value);
  auto const& object = value.get_object();
  if (!in.fits(at, object.size())) return;
  std::vector<string_map::value_type> entries;
  entries.reserve(object.size());
  for (auto const& member : object) {
    std::string_view const key = member.key();
    std::string_view text;
    read_element(in, at.entry(key), member.value(), text);
    if (!in.ok()) return;
    entries.emplace_back(key, text);
  }
  out = string_map{std::move(entries)};
}

/// A key that is known but of no use to the model.
struct ignored {};
inline void read_value(reader&, place const&, boost::json::value const&, ignored&) {}

template <class T>
struct field {
  std::string_view name;
  T& target;
};
template <class T>
field(std::string_view, T&) -> field<T>;

inline ignored nothing{};
inline auto skip(std::string_view name) noexcept -> field<ignored> { return {name, nothing}; }

/// Reads an object's members into `fields`; others are unknown.
template <class... T>
void read_members(reader& in, place const& at, boost::json::value const& value, field<T>... fields) {
  if (!value.is_object()) return in.expected(at, "an object", value);
  for (auto const& member : value.get_object()) {
    std::string_view const key = member.key();
    auto const here = at.member(key);
    auto const take = [&](auto const& candidate) {
      if (candidate.name != key) return false;
      read_nullable(in, here, member.value(), candidate.target);
      return true;
    };
    if (!(take(fields) || ...)) in.unknown(here);
    if (!in.ok()) return;
  }
}

/// Runs a reader over a document.
template <class T, class Read>
auto run_reader(json_read_options const& options, Read read, dialect language = dialect::kubernetes) -> decoded<T> {
  reader in{options, language};
  T out{};
  read(in, place{}, out);
  if (!in.ok()) return in.take_error();
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire
