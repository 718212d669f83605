#pragma once

#include <agones_alloc/beast/kubernetes_body.hpp>
#include <agones_alloc/beast/media_type.hpp>
#include <agones_alloc/json/parse.hpp>
#include <agones_alloc/json/read_allocation.hpp>
#include <agones_alloc/yaml/document.hpp>

#include <boost/json/monotonic_resource.hpp>

#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline auto refuse_media_type(content_type type, std::string_view field) -> body_refusal {
  switch (type.what) {
    case content_type::kind::missing:
      return {415, "Content-Type: missing or malformed; application/json and application/yaml are accepted",
              "error parsing mediatype from a request header: mime: no media type"};
    case content_type::kind::protobuf:
      return {415, "Content-Type: application/vnd.kubernetes.protobuf is not accepted; application/json and application/yaml are",
              "error decoding body: protobuf is not supported"};
    case content_type::kind::other:
      return {415, "Content-Type: " + std::string{field} + " is not accepted; application/json and application/yaml are",
              "Could not find deserializer"};
    case content_type::kind::json:
    case content_type::kind::yaml: break;
  }
  return {};
}

inline auto refuse_document(std::string message) -> body_refusal {
  auto reference = "error decoding body: " + message;
  return {400, "the body is no GameServerAllocation: " + std::move(message), std::move(reference)};
}

inline auto unknown_field_words(std::vector<std::string> const& fields) -> std::string {
  std::string out;
  for (auto const& field : fields) {
    if (!out.empty()) out += ", ";
    out += "unknown field \"" + field + '"';
  }
  return out;
}

inline auto read_body(boost::json::value const& value, front_end_options const& options, field_validation validation)
    -> std::variant<decoded_body, body_refusal> {
  std::vector<std::string> unknown;
  json_read_options how;
  how.strict = options.strict;
  if (validation != field_validation::ignore) how.unknown_fields = &unknown;
  auto read = read_game_server_allocation(value, how);
  if (!read) return refuse_document(to_string(read.error()));
  if (validation == field_validation::strict && !unknown.empty()) {
    return body_refusal{400,
                        "GameServerAllocation in version \"v1\" cannot be handled as a GameServerAllocation: "
                        "strict decoding error: " +
                            unknown_field_words(unknown),
                        {}};
  }
  decoded_body out{std::move(*read), {}};
  for (auto const& field : unknown) out.warnings.push_back("unknown field \"" + field + '"');
  return out;
}

inline auto read_yaml_body(std::string_view text, front_end_options const& options, field_validation validation)
    -> std::variant<decoded_body, body_refusal> {
  if (text.size() > options.yaml_body_bytes) {
    return body_refusal{413,
                        "YAML bodies are limited to " + std::to_string(options.yaml_body_bytes) +
                            " bytes, this one has " + std::to_string(text.size()) + "; JSON bodies may be larger",
                        {}};
  }
  yaml::limits limits;
  limits.max_bytes = text.size() + 1;  // bounded above
  limits.max_documents = 2;
  limits.max_nodes = 10'000;
  limits.max_expanded_bytes = 256 * 1024;
  auto read = yaml::parse(text, {}, limits);
  if (!read.errors.empty()) {
    auto const& first = read.errors.front();
    auto message = first.line == 0 ? std::string{} : "line " + std::to_string(first.line) + ": ";
    if (!first.field.empty()) message += first.field + ": ";
    return refuse_document(message + first.message);
  }
  if (read.values.size() != 1) {
    return refuse_document(read.values.empty() ? "it is empty" : "it holds more than one document");
  }
  return read_body(read.values.front().value, options, validation);
}

}  // namespace detail

AGONES_ALLOC_DECL auto decode_body(http_request const& request, front_end_options const& options,
                                   field_validation validation) -> std::variant<decoded_body, body_refusal> {
  auto const field = request.header("Content-Type");
  auto const type = parse_content_type(field);
  if (type.what == content_type::kind::yaml) return detail::read_yaml_body(request.body, options, validation);
  if (type.what != content_type::kind::json) return detail::refuse_media_type(type, field);
  unsigned char memory[4096];
  boost::json::monotonic_resource resource{memory, sizeof memory};
  json_parse_options how;
  how.max_bytes = request.body.size() + 1;  // the connection has bounded it
  auto const value = parse_json(request.body, how, &resource);
  if (!value) return detail::refuse_document(request.body.empty() ? "it is empty" : to_string(value.error()));
  // Agones takes this for an allocation without any wish; a client that sends it has lost its request.
  if (value->is_null() && !options.compatible) return detail::refuse_document("it is null");
  return detail::read_body(*value, options, validation);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
