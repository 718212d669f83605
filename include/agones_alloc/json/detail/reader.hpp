// One pass over a value: the first error sticks, later reads do nothing.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/decode_error.hpp>
#include <agones_alloc/json/detail/place.hpp>
#include <agones_alloc/json/read_options.hpp>

#include <boost/json/value.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire {

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
  fail(decode_fault::type, at,
       "expected " + std::string{what} + ", got \"" + std::string{std::string_view{*text}.substr(0, 64)} + "\"");
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
  fail(decode_fault::enum_name, at,
       "unknown word \"" + std::string{text.substr(0, 64)} + "\", expected one of " + list);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail::wire
