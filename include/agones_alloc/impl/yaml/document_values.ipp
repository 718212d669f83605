#pragma once

#include <agones_alloc/impl/yaml/document_builder.ipp>

#include <boost/json/serialize.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {
namespace yaml {
namespace detail {

inline auto shown(std::string_view text) -> std::string {
  return text.size() <= 64 ? std::string{text} : std::string{text.substr(0, 64)} + "...";
}

/// A key as the text it has in JSON: numbers and booleans are spelt out, as Kubernetes does.
inline void document_builder::take_key(built const& made, bool plain_merge) {
  auto& map = frames_.back();
  auto const line = made.lines.line;
  std::string key;
  if (auto const* text = made.value.if_string()) {
    key.assign(text->data(), text->size());
  } else if (made.value.is_primitive() && !made.value.is_null()) {
    key = boost::json::serialize(made.value);
  } else {
    fail(line, made.value.is_null() ? "null as a key" : "a list or map as a key");
  }
  map.key_line = line;
  if (plain_merge) {
    map.merging = true;
    map.key = "<<";
    return;
  }
  auto const& object = map.made.value.get_object();
  if (auto const found = object.find(key); found != object.end()) {
    auto const first = map.made.lines.children[static_cast<std::size_t>(found - object.begin())].line;
    map.key = key;  // names it in the problem
    fail(line, "the key is given twice, first on line " + std::to_string(first));
  }
  map.key = std::move(key);
}

inline void document_builder::add_merge(frame& map, built made) {
  auto const line = map.key_line;
  if (!map.merges.empty()) fail(line, "the merge key << is given twice");
  if (made.value.is_object()) {
    map.merges.push_back(std::move(made));
  } else if (made.value.is_array()) {
    auto& array = made.value.get_array();
    for (std::size_t i = 0; i < array.size(); ++i) {
      if (!array[i].is_object()) fail(line, "the merge key << takes maps only");
      // The list's share of the count is kept on the whole: merged parts are counted once, when they were read.
      map.merges.push_back({std::move(array[i]), std::move(made.lines.children[i]), 0, 0});
    }
    if (!map.merges.empty()) {
      map.merges.front().nodes = made.nodes;
      map.merges.front().bytes = made.bytes;
    }
  } else {
    fail(line, "the merge key << takes maps only");
  }
  map.merging = false;
  map.key.reset();
}

/// The map's own keys win over merged ones, earlier merged maps over later ones.
inline void document_builder::apply_merges(frame& map) {
  auto& object = map.made.value.get_object();
  for (auto& source : map.merges) {
    std::size_t index = 0;
    for (auto& member : source.value.get_object()) {
      auto& lines = source.lines.children[index++];
      if (!object.emplace(member.key(), std::move(member.value())).second) continue;
      map.made.lines.children.push_back(std::move(lines));
    }
    map.made.nodes += source.nodes;
    map.made.bytes += source.bytes;
  }
}

inline auto document_builder::value_of(scalar const& s, std::string const& text, std::size_t line) const
    -> boost::json::value {
  switch (s.what) {
    case scalar::kind::string:
      return boost::json::string{text};
    case scalar::kind::null:
      return nullptr;
    case scalar::kind::boolean:
      return s.boolean;
    case scalar::kind::integer:
      return s.integer;
    case scalar::kind::unsigned_integer:
      return s.unsigned_integer;
    case scalar::kind::real:
      if (!std::isfinite(s.real)) fail(line, shown(text) + " has no form in JSON");
      return s.real;
  }
  return nullptr;
}

inline auto document_builder::value_of_tagged(std::string const& tag, std::string const& text, std::size_t line) const
    -> boost::json::value {
  static constexpr std::string_view prefix = "tag:yaml.org,2002:";
  // "!" is a quoted scalar; a tag of the user's own leaves the text as it is.
  if (!std::string_view{tag}.starts_with(prefix)) return boost::json::string{text};
  auto const name = std::string_view{tag}.substr(prefix.size());
  if (name == "str" || name == "timestamp") return boost::json::string{text};
  auto const resolved = resolve_plain(text);
  auto const is = [&resolved](auto... kinds) { return ((resolved.what == kinds) || ...); };
  using kind = scalar::kind;
  bool const known = name == "int" || name == "float" || name == "bool" || name == "null";
  if (!known) fail(line, "the tag !!" + shown(name) + " is not read");
  bool const fits = (name == "int" && is(kind::integer, kind::unsigned_integer)) ||
                    (name == "float" && is(kind::integer, kind::unsigned_integer, kind::real)) ||
                    (name == "bool" && is(kind::boolean)) || (name == "null" && is(kind::null));
  if (!fits) fail(line, "\"" + shown(text) + "\" is not of its tag !!" + std::string{name});
  return value_of(resolved, text, line);
}

}  // namespace detail
}  // namespace yaml
}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
