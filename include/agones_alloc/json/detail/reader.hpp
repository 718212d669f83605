// One pass over a value: the first error sticks, later reads do nothing.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/decode_error.hpp>
#include <agones_alloc/json/detail/number.hpp>
#include <agones_alloc/json/detail/place.hpp>
#include <agones_alloc/json/read_options.hpp>
#include <agones_alloc/model/named_map.hpp>
#include <agones_alloc/model/shared_string.hpp>
#include <agones_alloc/model/string_map.hpp>

#include <boost/json/value.hpp>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Kubernetes JSON: integers are plain numbers, a null element is the zero value. proto-JSON: integers may be texts or
/// whole floats, a null element is an error (spec 1.1, 8.10).
enum class dialect : std::uint8_t { kubernetes, proto };

class reader {
 public:
  explicit reader(json_read_options const& options, dialect language = dialect::kubernetes) noexcept
      : options_{options}, language_{language} {}

  auto language() const noexcept -> dialect { return language_; }
  auto options() const noexcept -> json_read_options const& { return options_; }
  auto ok() const noexcept -> bool { return !error_.has_value(); }
  void fail(decode_fault fault, place const& at, std::string message) {
    if (ok()) error_ = decode_error{fault, at.text(), std::move(message), 0, 0, 0};
  }
  void fail(decode_error error) {
    if (ok()) error_ = std::move(error);
  }
  auto take_error() -> decode_error { return *std::move(error_); }

  void expected(place const& at, std::string_view what, boost::json::value const& got);
  void not_an_integer(place const& at, std::string_view what, boost::json::value const& got);
  void unknown(place const& at);
  auto fits(place const& at, std::size_t count) -> bool;
  /// Strict only: `text` is one of `words`.
  void check_word(place const& at, std::string_view text, std::initializer_list<std::string_view> words);

 private:
  json_read_options const& options_;
  dialect language_;
  std::optional<decode_error> error_;
};

inline auto json_kind_name(boost::json::value const& value) noexcept -> std::string_view {
  switch (value.kind()) {
    case boost::json::kind::null: return "null";
    case boost::json::kind::bool_: return "a boolean";
    case boost::json::kind::int64:
    case boost::json::kind::uint64: return "an integer";
    case boost::json::kind::double_: return "a number with a fraction, an exponent or too many digits";
    case boost::json::kind::string: return "a string";
    case boost::json::kind::array: return "an array";
    case boost::json::kind::object: return "an object";
  }
  return "nothing";
}

inline void reader::expected(place const& at, std::string_view what, boost::json::value const& got) {
  if (ok()) fail(decode_fault::type, at, "expected " + std::string{what} + ", got " + std::string{json_kind_name(got)});
}

inline void reader::not_an_integer(place const& at, std::string_view what, boost::json::value const& got) {
  auto const* text = language_ == dialect::proto ? got.if_string() : nullptr;
  if (text == nullptr) return expected(at, what, got);
  fail(decode_fault::type, at, "expected " + std::string{what} + ", got \"" + std::string{std::string_view{*text}.substr(0, 64)} + "\"");
}

inline void reader::unknown(place const& at) {
  if (options_.unknown_fields != nullptr && options_.unknown_fields->size() < options_.max_unknown_fields) {
    options_.unknown_fields->push_back(at.text());
  }
  if (options_.refuse_unknown_fields) fail(decode_fault::unknown_field, at, "unknown field");
}

inline auto reader::fits(place const& at, std::size_t count) -> bool {
  if (count <= options_.max_entries) return ok();
  fail(decode_fault::limit, at,
       std::to_string(count) + " entries, at most " + std::to_string(options_.max_entries) + " are accepted");
  return false;
}

inline void reader::check_word(place const& at, std::string_view text, std::initializer_list<std::string_view> words) {
  if (!options_.strict || !ok()) return;
  std::string list;
  for (auto const word : words) {
    if (word == text) return;
    list.append(list.empty() ? "" : ", ").append(word);
  }
  fail(decode_fault::enum_name, at, "unknown word \"" + std::string{text.substr(0, 64)} + "\", expected one of " + list);
}

inline void read_value(reader& in, place const& at, boost::json::value const& value, std::string_view& out) {
  if (value.is_string()) {
    out = value.get_string();
  } else {
    in.expected(at, "a string", value);
  }
}

inline void read_value(reader& in, place const& at, boost::json::value const& value, shared_string& out) {
  if (value.is_string()) {
    out = shared_string{std::string_view{value.get_string()}};
  } else {
    in.expected(at, "a string", value);
  }
}

inline void read_value(reader& in, place const& at, boost::json::value const& value, bool& out) {
  if (value.is_bool()) {
    out = value.get_bool();
  } else {
    in.expected(at, "a boolean", value);
  }
}

template <class Integer>
  requires(std::is_same_v<Integer, std::int32_t> || std::is_same_v<Integer, std::int64_t>)
void read_value(reader& in, place const& at, boost::json::value const& value, Integer& out) {
  constexpr std::string_view what = sizeof(Integer) == 4 ? "a 32-bit integer" : "a 64-bit integer";
  auto const given = in.language() == dialect::proto ? proto_number(value) : plain_number(value);
  auto const out_of_range = [&](auto number) {
    in.fail(decode_fault::type, at, "expected " + std::string{what} + ", " + std::to_string(number) + " is out of range");
  };
  if (auto const* number = std::get_if<std::int64_t>(&given)) {
    if (*number < std::numeric_limits<Integer>::min() || *number > std::numeric_limits<Integer>::max()) return out_of_range(*number);
    out = static_cast<Integer>(*number);
  } else if (auto const* large = std::get_if<std::uint64_t>(&given)) {
    out_of_range(*large);
  } else {
    in.not_an_integer(at, what, value);
  }
}

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

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
