#pragma once

#include <agones_alloc/beast/cluster_api/write_body.hpp>
#include <agones_alloc/beast/detail/field_words.hpp>
#include <agones_alloc/beast/query_string.hpp>
#include <agones_alloc/json/parse.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

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

inline auto unknown_type(std::string_view accepted) -> api_refusal {
  api_refusal out;
  out.code = 415;
  out.message = "the body of the request was in an unknown format - accepted media types include: " + std::string{accepted};
  return out;
}

inline auto invalid_replicas(field_error_type type, std::string value, std::string detail) -> api_refusal {
  api_refusal out;
  out.code = 422;
  out.causes = {{type, "spec.replicas", std::move(value), std::move(detail)}};
  out.message = to_string(out.causes);
  return out;
}

inline auto read_document(http_request const& request) -> std::variant<boost::json::value, api_refusal> {
  auto parsed = parse_json(request.body);
  if (!parsed) return bad_body("error decoding body: " + to_string(parsed.error()));
  return *std::move(parsed);
}

inline auto read_object(http_request const& request) -> std::variant<boost::json::object, api_refusal> {
  auto read = read_document(request);
  if (auto* problem = std::get_if<api_refusal>(&read)) return std::move(*problem);
  auto* const object = std::get_if<boost::json::value>(&read)->if_object();
  if (object == nullptr) return bad_body("error decoding body: an object is expected");
  return std::move(*object);
}

/// One operation of a JSON patch.
inline auto read_step(boost::json::value const& step, scale_change& out) -> std::optional<api_refusal> {
  auto const* const object = step.if_object();
  if (object == nullptr) return bad_body("error decoding patch: an array of operations is expected");
  std::string op;
  std::string path;
  if (!read_text(*object, "op", op) || !read_text(*object, "path", path)) {
    return bad_body("error decoding patch: op and path are strings");
  }
  bool const tests = op == "test";
  if (path == "/spec/replicas" && (tests || op == "add" || op == "replace")) {
    auto const* const value = object->if_contains("value");
    auto const* const number = value == nullptr ? nullptr : value->if_int64();
    if (number == nullptr) return bad_body("error decoding patch: " + path + ": a whole number is expected");
    if (!tests) {
      out.replicas = *number;
    } else if (!out.replicas) {
      if (out.tested && *out.tested != *number) return invalid_replicas(field_error_type::invalid, std::to_string(*number), "is tested for two values");
      out.tested = *number;
    } else if (*out.replicas != *number) {
      return invalid_replicas(field_error_type::invalid, std::to_string(*number), "is tested for, after it was given another value");
    }
    return std::nullopt;
  }
  if (tests && path == "/metadata/resourceVersion" && read_text(*object, "value", out.terms.resource_version)) return std::nullopt;
  if (tests && path == "/metadata/uid" && read_text(*object, "value", out.terms.uid)) return std::nullopt;
  api_refusal refused;
  refused.code = 422;
  refused.message = "the patch cannot be applied to a scale: op " + go_quoted(op) + ", path " + go_quoted(path) +
                    ": /spec/replicas can be tested, added and replaced, resourceVersion and uid tested";
  return refused;
}

inline auto read_scale_steps(http_request const& request, scale_change out) -> std::variant<scale_change, api_refusal> {
  auto read = read_document(request);
  if (auto* problem = std::get_if<api_refusal>(&read)) return std::move(*problem);
  auto const* const steps = std::get_if<boost::json::value>(&read)->if_array();
  if (steps == nullptr) return bad_body("error decoding patch: an array of operations is expected");
  for (auto const& step : *steps) {
    if (auto problem = read_step(step, out)) return *std::move(problem);
  }
  return out;
}

/// A whole Scale, or a merge patch of one.
inline auto read_scale_object(http_request const& request, scale_change out, bool patch)
    -> std::variant<scale_change, api_refusal> {
  auto read = read_object(request);
  if (auto* problem = std::get_if<api_refusal>(&read)) return std::move(*problem);
  auto const& body = *std::get_if<boost::json::object>(&read);
  std::string kind;
  if (!read_text(body, "kind", kind) || (!kind.empty() && kind != "Scale")) return bad_body("kind: Scale is expected");
  if (auto const* meta = member_object(body, "metadata")) {
    if (auto problem = read_identity(*meta, "metadata", out.terms)) return bad_body(*problem);
    if (!read_text(*meta, "name", out.name)) return bad_body("metadata.name: a string is expected");
    if (!read_text(*meta, "namespace", out.space)) return bad_body("metadata.namespace: a string is expected");
  }
  auto const* const said = body.if_contains("spec");
  auto const* const spec = said == nullptr ? nullptr : said->if_object();
  if (said != nullptr && spec == nullptr && !said->is_null()) return bad_body("spec: an object is expected");
  auto const* const replicas = spec == nullptr ? nullptr : spec->if_contains("replicas");
  if (patch) {
    if (said == nullptr || (spec != nullptr && replicas == nullptr)) return out;
    if (spec == nullptr || replicas->is_null()) return invalid_replicas(field_error_type::required, {}, "cannot be taken away");
  } else {
    if (spec == nullptr) return invalid_replicas(field_error_type::required, {}, "how many game servers are wanted");
    if (replicas == nullptr || replicas->is_null()) {
      out.replicas = 0;
      return out;
    }
  }
  auto const* const number = replicas->if_int64();
  if (number == nullptr) return bad_body("spec.replicas: a whole number is expected");
  out.replicas = *number;
  return out;
}

}  // namespace detail

AGONES_ALLOC_DECL auto read_scale(http_request const& request) -> std::variant<scale_change, api_refusal> {
  auto const field = request.header("Content-Type");
  std::string_view rest = field;
  auto const type = detail::next_part(rest, ';');
  bool const patch = request.method == "PATCH";
  bool const merges = detail::same_word(type, "application/merge-patch+json");
  bool const steps = detail::same_word(type, "application/json-patch+json");
  if (patch && !merges && !steps) return detail::unknown_type("application/json-patch+json, application/merge-patch+json");
  // kubectl's client of scales names no type.
  if (!patch && !type.empty() && !detail::same_word(type, "application/json")) return detail::unknown_type("application/json");
  scale_change out;
  if (auto problem = detail::read_dry_run(request.query, out.terms)) return *std::move(problem);
  if (patch && steps) return detail::read_scale_steps(request, std::move(out));
  return detail::read_scale_object(request, std::move(out), patch);
}

AGONES_ALLOC_DECL auto read_delete_options(http_request const& request) -> std::variant<write_terms, api_refusal> {
  write_terms out;
  if (auto problem = detail::read_dry_run(request.query, out)) return *std::move(problem);
  if (request.body.find_first_not_of(" \t\r\n") == std::string_view::npos) return out;
  auto const field = request.header("Content-Type");
  std::string_view rest = field;
  auto const type = detail::next_part(rest, ';');
  if (!type.empty() && !detail::same_word(type, "application/json")) return detail::unknown_type("application/json");
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
