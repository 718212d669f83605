#pragma once

#include <agones_alloc/yaml/scalar.hpp>
#include <agones_alloc/yaml/write.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <yaml-cpp/emitter.h>

#include <array>
#include <charconv>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {
namespace yaml {

namespace detail {

/// True for text that some reader would not take as a string: numbers in any notation (base 60 too), dates, words.
inline auto needs_quotes(std::string_view text) -> bool {
  if (resolve_plain(text).what != scalar::kind::string) return true;
  if (text == "<<" || text == "=" || text.starts_with("---")) return true;
  if (text.find_first_of("\n\r\t") != std::string_view::npos) return true;
  if (text.front() == ' ' || text.back() == ' ') return true;
  bool const numeric_start =
      (text.front() >= '0' && text.front() <= '9') || text.front() == '.' || text.front() == '-' || text.front() == '+';
  return numeric_start && text.find_first_not_of("0123456789_:.+-eEtTzZ ") == std::string_view::npos;
}

inline void write_string(YAML::Emitter& out, std::string_view text) {
  if (needs_quotes(text)) out << YAML::DoubleQuoted;
  out << std::string{text};
}

/// The shortest text that reads back as the same number.
inline void write_double(YAML::Emitter& out, double number) {
  std::array<char, 32> text;
  auto const end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  out << std::string{text.data(), end};
}

inline void write_value(YAML::Emitter& out, boost::json::value const& value) {
  switch (value.kind()) {
    case boost::json::kind::null:
      out << YAML::Null;
      return;
    case boost::json::kind::bool_:
      out << (value.get_bool() ? "true" : "false");
      return;
    case boost::json::kind::int64:
      out << value.get_int64();
      return;
    case boost::json::kind::uint64:
      out << value.get_uint64();
      return;
    case boost::json::kind::double_:
      write_double(out, value.get_double());
      return;
    case boost::json::kind::string:
      write_string(out, {value.get_string().data(), value.get_string().size()});
      return;
    case boost::json::kind::array:
      if (value.get_array().empty()) out << YAML::Flow;
      out << YAML::BeginSeq;
      for (auto const& element : value.get_array()) write_value(out, element);
      out << YAML::EndSeq;
      return;
    case boost::json::kind::object:
      if (value.get_object().empty()) out << YAML::Flow;
      out << YAML::BeginMap;
      for (auto const& member : value.get_object()) {
        // Longer keys than a reader looks ahead for have to be announced.
        if (member.key().size() > 900) out << YAML::LongKey;
        out << YAML::Key;
        write_string(out, {member.key().data(), member.key().size()});
        out << YAML::Value;
        write_value(out, member.value());
      }
      out << YAML::EndMap;
      return;
  }
}

}  // namespace detail

AGONES_ALLOC_DECL auto write(boost::json::value const& value) -> std::string {
  YAML::Emitter out;
  out.SetNullFormat(YAML::LowerNull);
  detail::write_value(out, value);
  return std::string{out.c_str(), out.size()} + "\n";
}

}  // namespace yaml
}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
