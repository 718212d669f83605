#pragma once

#include <agones_alloc/beast/cluster_api/write_body.hpp>
#include <agones_alloc/beast/detail/field_words.hpp>
#include <agones_alloc/beast/query_string.hpp>
#include <agones_alloc/json/parse.hpp>

#include <boost/json/object.hpp>

#include <string_view>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline auto bad_body(std::string message) -> api_refusal {
  api_refusal out;
  out.message = std::move(message);
  return out;
}

/// `object[key]` as an object; null when it is absent or null.
inline auto member_object(boost::json::object const& object, std::string_view key) -> boost::json::object const* {
  auto const* found = object.if_contains(key);
  return found == nullptr ? nullptr : found->if_object();
}

/// A member of texts; "" when it is absent or null. False: it is something else.
inline auto read_text(boost::json::object const& object, std::string_view key, std::string& out) -> bool {
  auto const* found = object.if_contains(key);
  if (found == nullptr || found->is_null()) return true;
  auto const* text = found->if_string();
  if (text != nullptr) out.assign(text->data(), text->size());
  return text != nullptr;
}

/// `uid` and `resourceVersion` of an object's metadata or of preconditions; a sentence where they are no texts.
inline auto read_identity(boost::json::object const& from, std::string_view path, write_terms& out)
    -> std::optional<std::string> {
  if (!read_text(from, "uid", out.uid)) return std::string{path} + ".uid: a string is expected";
  if (!read_text(from, "resourceVersion", out.resource_version)) {
    return std::string{path} + ".resourceVersion: a string is expected";
  }
  return std::nullopt;
}

/// `dryRun=All` in the query.
inline auto read_dry_run(std::string_view query, write_terms& out) -> std::optional<api_refusal> {
  for (auto const& value : query_values(query, "dryRun")) {
    if (value != "All") return bad_body("dryRun: Unsupported value: " + go_quoted(value) + ": supported values: \"All\"");
    out.dry_run = true;
  }
  return std::nullopt;
}

inline auto read_object(http_request const& request) -> std::variant<boost::json::object, api_refusal> {
  auto parsed = parse_json(request.body);
  if (!parsed) return bad_body("error decoding body: " + to_string(parsed.error()));
  auto* const object = parsed->if_object();
  if (object == nullptr) return bad_body("error decoding body: an object is expected");
  return std::move(*object);
}

}  // namespace detail

AGONES_ALLOC_DECL auto read_scale(http_request const& request) -> std::variant<scale_change, api_refusal> {
  auto const field = request.header("Content-Type");
  std::string_view rest = field;
  auto const type = detail::next_part(rest, ';');
  bool const patch = request.method == "PATCH";
  auto const wanted = patch ? std::string_view{"application/merge-patch+json"} : std::string_view{"application/json"};
  bool const unsaid = !patch && type.empty();  // kubectl's client of scales names no type
  if (!unsaid && !detail::same_word(type, wanted)) {
    api_refusal out;
    out.code = 415;
    out.message = "the body of the request was in an unknown format - accepted media types include: " + std::string{wanted};
    return out;
  }
  scale_change out;
  if (auto problem = detail::read_dry_run(request.query, out.terms)) return *std::move(problem);
  auto read = detail::read_object(request);
  if (auto* problem = std::get_if<api_refusal>(&read)) return std::move(*problem);
  auto const& body = *std::get_if<boost::json::object>(&read);
  if (auto const* meta = detail::member_object(body, "metadata")) {
    if (auto problem = detail::read_identity(*meta, "metadata", out.terms)) return detail::bad_body(*problem);
  }
  auto const* spec = detail::member_object(body, "spec");
  auto const* replicas = spec == nullptr ? nullptr : spec->if_contains("replicas");
  if (replicas == nullptr && patch) return out;
  if (replicas == nullptr || replicas->is_null()) {
    api_refusal missing;
    missing.code = 422;
    missing.message = "spec.replicas: Required value";
    missing.causes = {{field_error_type::required, "spec.replicas", {}, "how many game servers are wanted"}};
    return missing;
  }
  auto const* number = replicas->if_int64();
  if (number == nullptr) return detail::bad_body("spec.replicas: a whole number is expected");
  out.replicas = *number;
  return out;
}

AGONES_ALLOC_DECL auto read_delete_options(http_request const& request) -> std::variant<write_terms, api_refusal> {
  write_terms out;
  if (auto problem = detail::read_dry_run(request.query, out)) return *std::move(problem);
  if (request.body.find_first_not_of(" \t\r\n") == std::string_view::npos) return out;
  auto read = detail::read_object(request);
  if (auto* problem = std::get_if<api_refusal>(&read)) return std::move(*problem);
  auto const& body = *std::get_if<boost::json::object>(&read);
  if (auto const* wanted = body.if_contains("dryRun"); wanted != nullptr && !wanted->is_null()) {
    auto const* words = wanted->if_array();
    if (words == nullptr) return detail::bad_body("dryRun: an array is expected");
    for (auto const& word : *words) {
      if (word != "All") return detail::bad_body("dryRun: supported values: \"All\"");
      out.dry_run = true;
    }
  }
  if (auto const* conditions = detail::member_object(body, "preconditions")) {
    if (auto problem = detail::read_identity(*conditions, "preconditions", out)) return detail::bad_body(*problem);
  }
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
