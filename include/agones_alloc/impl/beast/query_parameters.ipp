#pragma once

#include <agones_alloc/beast/namespace_name.hpp>
#include <agones_alloc/beast/query_parameters.hpp>
#include <agones_alloc/beast/query_string.hpp>
#include <agones_alloc/json/detail/escape.hpp>

#include <algorithm>
#include <charconv>
#include <system_error>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline auto is_utf8(std::string_view text) noexcept -> bool {
  while (!text.empty()) {
    auto const length = wire::utf8_sequence(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace detail

AGONES_ALLOC_DECL query_parameters::query_parameters(std::string_view query) {
  while (!query.empty()) {
    auto const end = std::min(query.find('&'), query.size());
    auto const part = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (part.empty()) continue;
    auto const equals = std::min(part.find('='), part.size());
    auto name = percent_decoded(part.substr(0, equals), true);
    auto value = percent_decoded(part.substr(std::min(equals + 1, part.size())), true);
    if (!name || !value) {
      fail(name ? *name : std::string{part.substr(0, equals)}, "is badly encoded: % must be followed by two hexadecimal digits");
      continue;
    }
    if (!detail::is_utf8(*value)) fail(*name, "is not UTF-8");
    left_.emplace_back(*std::move(name), *std::move(value));
  }
}

AGONES_ALLOC_DECL void query_parameters::fail(std::string_view name, std::string_view what) {
  if (ok()) problem_ = std::string{name.substr(0, 64)} + ": " + std::string{what};
}

AGONES_ALLOC_DECL auto query_parameters::text(std::string_view name) -> std::optional<std::string> {
  auto const is_it = [name](auto const& one) { return one.first == name; };
  auto const at = std::find_if(left_.begin(), left_.end(), is_it);
  if (at == left_.end()) return std::nullopt;
  auto out = std::move(at->second);
  left_.erase(at);
  if (std::any_of(left_.begin(), left_.end(), is_it)) fail(name, "is given twice");
  return out;
}

AGONES_ALLOC_DECL auto query_parameters::number(std::string_view name, std::uint64_t least, std::uint64_t most)
    -> std::optional<std::uint64_t> {
  auto const given = text(name);
  if (!given) return std::nullopt;
  std::uint64_t out = 0;
  auto const* const end = given->data() + given->size();
  auto const [stopped, fault] = std::from_chars(given->data(), end, out);
  if (fault != std::errc{} || stopped != end || out < least || out > most) {
    fail(name, "a number from " + std::to_string(least) + " to " + std::to_string(most) + " is wanted");
    return std::nullopt;
  }
  return out;
}

AGONES_ALLOC_DECL auto query_parameters::space() -> std::optional<std::string> {
  auto out = text("namespace");
  if (out && !out->empty() && !is_namespace_name(*out)) fail("namespace", namespace_name_wanted);
  return out;
}

AGONES_ALLOC_DECL auto query_parameters::flag(std::string_view name) -> std::optional<bool> {
  auto const given = text(name);
  if (!given) return std::nullopt;
  if (*given != "true" && *given != "false") {
    fail(name, "true or false is wanted");
    return std::nullopt;
  }
  return *given == "true";
}

AGONES_ALLOC_DECL void query_parameters::finish() {
  if (!left_.empty()) fail(left_.front().first, "is no parameter of this path");
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
