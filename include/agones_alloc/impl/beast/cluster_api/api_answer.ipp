#pragma once

#include <agones_alloc/beast/cluster_api/api_answer.hpp>
#include <agones_alloc/beast/detail/field_words.hpp>
#include <agones_alloc/json/detail/writer.hpp>
#include <agones_alloc/json/status.hpp>

#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline void write_text(wire::writer& to, std::string_view name, std::string_view value) {
  to.key(name);
  to.text(value);
}

inline void write_details(wire::writer& to, api_refusal const& what) {
  to.key("details");
  to.open('{');
  if (!what.name.empty()) write_text(to, "name", what.name);
  if (!what.kind.empty()) {
    write_text(to, "group", "agones.dev");
    write_text(to, "kind", what.kind);
  }
  if (!what.causes.empty()) {
    to.key("causes");
    to.open('[');
    for (auto const& cause : what.causes) {
      to.open('{');
      write_text(to, "reason", to_string(cause.type));
      write_text(to, "message", body_of(cause));
      write_text(to, "field", cause.field);
      to.close('}');
    }
    to.close(']');
  }
  if (what.retry_after.count() != 0) {
    to.key("retryAfterSeconds");
    to.number(what.retry_after.count());
  }
  to.close('}');
}

/// `as`, `v` and `g` of a media type's parameters.
struct transformed {
  std::string_view as, version, group;
  auto wanted() const noexcept -> bool { return !as.empty(); }
  auto is_table() const noexcept -> bool { return as == "Table" && version == "v1" && group == "meta.k8s.io"; }
};

inline auto read_transformed(std::string_view parameters) noexcept -> transformed {
  transformed out;
  while (!parameters.empty()) {
    auto const one = next_part(parameters, ';');
    auto const equals = one.find('=');
    if (equals == std::string_view::npos) continue;
    auto const name = trimmed(one.substr(0, equals));
    auto const value = trimmed(one.substr(equals + 1));
    if (name == "as") out.as = value;
    if (name == "v") out.version = value;
    if (name == "g") out.group = value;
  }
  return out;
}

}  // namespace detail

AGONES_ALLOC_DECL auto to_json(api_refusal const& what) -> std::string {
  return detail::wire::written([&](detail::wire::writer& to) {
    to.open('{');
    detail::write_text(to, "kind", "Status");
    detail::write_text(to, "apiVersion", "v1");
    to.key("metadata");
    to.raw("{}");
    detail::write_text(to, "status", "Failure");
    detail::write_text(to, "message", what.message);
    auto const reason = what.reason.empty() ? reason_for(what.code) : std::string_view{what.reason};
    if (!reason.empty()) detail::write_text(to, "reason", reason);
    bool const about = !what.name.empty() || !what.kind.empty() || !what.causes.empty() || what.retry_after.count() != 0;
    if (about) detail::write_details(to, what);
    to.key("code");
    to.number(what.code);
    to.close('}');
  });
}

AGONES_ALLOC_DECL auto to_response(api_refusal const& what) -> http_response {
  auto out = json_response(what.code, to_json(what) + "\n");
  if (what.retry_after.count() != 0) out.headers.emplace_back("Retry-After", std::to_string(what.retry_after.count()));
  return out;
}

AGONES_ALLOC_DECL auto not_found(std::string_view plural, std::string_view name) -> api_refusal {
  api_refusal out;
  out.code = 404;
  out.message = std::string{plural} + ".agones.dev " + go_quoted(name) + " not found";
  out.kind = plural;
  out.name = name;
  return out;
}

AGONES_ALLOC_DECL auto expired(std::string message) -> api_refusal {
  api_refusal out;
  out.code = 410;
  out.reason = "Expired";
  out.message = std::move(message);
  return out;
}

AGONES_ALLOC_DECL auto not_allowed(std::string message, std::string_view allowed) -> http_response {
  api_refusal what;
  what.code = 405;
  what.message = std::move(message);
  auto out = to_response(what);
  out.headers.emplace_back("Allow", allowed);
  return out;
}

AGONES_ALLOC_DECL auto read_accept(std::string_view field) noexcept -> std::optional<accepted_form> {
  if (field.empty()) return accepted_form{};
  std::optional<accepted_form> best;
  int best_quality = 0;
  while (!field.empty()) {
    auto parameters = detail::next_part(field, ',');
    auto const type = detail::next_part(parameters, ';');
    auto const quality = detail::quality_of(parameters);
    auto const into = detail::read_transformed(parameters);
    bool const json = detail::same_word(type, "application/json") || type == "*/*" || type == "application/*";
    bool const yaml = detail::same_word(type, "application/yaml");
    if (quality <= best_quality || (!json && !yaml) || (into.wanted() && (yaml || !into.is_table()))) continue;
    best_quality = quality;
    best = accepted_form{into.wanted() ? api_form::table : api_form::objects, yaml ? media_type::yaml : media_type::json};
  }
  return best;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
