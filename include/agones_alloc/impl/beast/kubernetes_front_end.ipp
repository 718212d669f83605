#pragma once

#include <agones_alloc/beast/forwarded_request.hpp>
#include <agones_alloc/beast/kubernetes_body.hpp>
#include <agones_alloc/beast/kubernetes_front_end.hpp>
#include <agones_alloc/beast/namespace_name.hpp>
#include <agones_alloc/beast/openapi_document.hpp>
#include <agones_alloc/beast/outcome_answer.hpp>
#include <agones_alloc/beast/query_string.hpp>
#include <agones_alloc/beast/request_bounds.hpp>
#include <agones_alloc/json/parse.hpp>
#include <agones_alloc/json/response.hpp>
#include <agones_alloc/json/status.hpp>
#include <agones_alloc/select/match.hpp>
#include <agones_alloc/yaml/write.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>

#include <algorithm>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline constexpr std::string_view discovery_path = "/apis/allocation.agones.dev/v1";
inline constexpr std::string_view discovery_document =
    R"({"kind":"APIResourceList","apiVersion":"v1","groupVersion":"allocation.agones.dev/v1","resources":[)"
    R"({"name":"gameserverallocations","singularName":"gameserverallocation","namespaced":true,)"
    R"("kind":"GameServerAllocation","verbs":["create"],"shortNames":["gsa"]}]})";

/// A JSON document in the type that was negotiated, with the newline Kubernetes ends documents with.
inline auto document_response(int status, std::string json, media_type type) -> http_response {
  http_response out;
  out.status = status;
  out.content_type = to_string(type);
  switch (type) {
    case media_type::json:
      out.body = std::move(json);
      if (!out.body.ends_with('\n')) out.body += '\n';
      break;
    case media_type::yaml:
      if (auto const value = parse_json(json)) out.body = yaml::write(*value);
      break;
  }
  return out;
}

inline auto status_response(int code, std::string message, media_type type = media_type::json, long retry_after = 0)
    -> http_response {
  api_status status;
  status.code = code;
  status.message = std::move(message);
  status.retry_after = std::chrono::seconds{retry_after};
  return document_response(code, to_json_status(status), type);
}

/// What the query of an allocation asks for.
struct allocation_query {
  bool dry_run{false};
  field_validation validation{field_validation::ignore};
  std::chrono::nanoseconds time{0};
};

/// The query, or a sentence about the parameter that is wrong.
inline auto read_query(std::string_view query, front_end_options const& options)
    -> std::variant<allocation_query, std::string> {
  allocation_query out;
  out.time = options.request_time;
  if (options.strict) out.validation = field_validation::strict;
  if (query.empty()) return out;
  for (auto const& value : query_values(query, "dryRun")) {
    if (value != "All") return "dryRun: Unsupported value: \"" + value + "\": supported values: \"All\"";
    out.dry_run = true;
  }
  for (auto const& value : query_values(query, "fieldValidation")) {
    if (value == "Strict") {
      out.validation = field_validation::strict;
    } else if (value == "Warn") {
      out.validation = field_validation::warn;
    } else if (value == "Ignore" || value.empty()) {
      out.validation = field_validation::ignore;
    } else {
      return "fieldValidation: Unsupported value: \"" + value + "\": supported values: \"Ignore\", \"Strict\", \"Warn\"";
    }
  }
  for (auto const& value : query_values(query, "timeout")) {
    auto const time = parse_go_duration(value);
    if (!time) return "timeout: Invalid value: \"" + value + "\": must be a duration such as 5s";
    if (*time > std::chrono::nanoseconds{0}) out.time = std::min(out.time, *time);
  }
  return out;
}

/// The namespace of an allocation path, still encoded; nullopt for any other path. A trailing slash is allowed.
inline auto allocation_namespace(std::string_view path) noexcept -> std::optional<std::string_view> {
  static constexpr std::string_view before = "/apis/allocation.agones.dev/v1/namespaces/";
  static constexpr std::string_view after = "/gameserverallocations";
  if (path.ends_with('/')) path.remove_suffix(1);
  if (!path.starts_with(before) || !path.ends_with(after) || path.size() <= before.size() + after.size()) return std::nullopt;
  auto const name = path.substr(before.size(), path.size() - before.size() - after.size());
  if (name.find('/') != std::string_view::npos) return std::nullopt;
  return name;
}

/// `Warning` fields: clients and proxies bound the header they read, so what would make it long is only counted.
inline void add_warnings(http_response& out, std::vector<std::string> const& warnings) {
  static constexpr std::size_t most_bytes = 4096;
  std::size_t bytes = 0;
  std::size_t left = warnings.size();
  for (auto const& warning : warnings) {
    auto text = go_quoted(warning);
    for (auto& c : text) {
      if (static_cast<unsigned char>(c) >= 0x80) c = '?';
    }
    if (text.size() > most_bytes - bytes) break;
    bytes += text.size();
    --left;
    out.headers.emplace_back("Warning", "299 - " + text);
  }
  if (left != 0) out.headers.emplace_back("Warning", "299 - \"" + std::to_string(left) + " more\"");
}

/// The problem of a policy selector that cannot be compiled; the reference finds it only when it uses it.
inline auto policy_selector_problem(multi_cluster_setting const& setting) -> std::optional<std::string> {
  if (!setting.enabled) return std::nullopt;
  std::vector<label_clause> ignored;
  return compile_labels(setting.policy_selector, ignored);
}

inline auto allocation_answer(request_ptr const& request, allocation_result const& result,
                              std::vector<std::string> const& warnings, media_type type) -> http_response {
  http_response out;
  switch (result.result) {
    case outcome::allocated:
    case outcome::exhausted:
    case outcome::contention: {
      std::string json;
      json.reserve(1024);
      append_allocation_response(json, request->allocation(), result, request->gates());
      out = document_response(201, std::move(json), type);
      break;
    }
    case outcome::invalid:
      out = document_response(422, invalid_status(request->allocation().meta.name, result.errors), type);
      break;
    case outcome::refused:
    case outcome::unavailable:
    case outcome::unknown:
    case outcome::cancelled:
    case outcome::deadline:
      out = status_response(failure_status(result), failure_message(result), type, retry_seconds(result));
      break;
  }
  add_outcome_fields(out, result);
  add_warnings(out, warnings);
  return out;
}

}  // namespace detail

AGONES_ALLOC_DECL kubernetes_front_end::kubernetes_front_end(allocation_backend& backend, timer& time,
                                                             front_end_options options)
    : backend_{&backend}, time_{&time}, options_{std::move(options)} {}

AGONES_ALLOC_DECL auto kubernetes_namespace_of(http_request const& request) -> std::optional<std::string> {
  auto const encoded = detail::allocation_namespace(request.path);
  if (!encoded || request.method != "POST") return std::nullopt;
  auto name = percent_decoded(*encoded);
  if (!name || !is_namespace_name(*name)) return std::nullopt;
  return name;
}

AGONES_ALLOC_DECL void kubernetes_front_end::handle(http_request const& request, reply done) {
  bool const get = request.method == "GET" || request.method == "HEAD";
  auto const answer = [&done](http_response response) {
    response.route = "discovery";
    std::move(done)(std::move(response));
  };
  if (auto const name = detail::allocation_namespace(request.path)) {
    if (request.method == "POST") return allocate(request, *name, std::move(done));
    auto out = text_response(405, "Method not supported");
    out.headers.emplace_back("Allow", "POST");
    out.route = "kubernetes";
    return std::move(done)(std::move(out));
  }
  if (get && request.path == "/") return answer(http_response{});
  if (request.path == "/apis" || request.path == "/apis/") {
    http_response out;  // makes discovery fall back to the documents of the groups
    out.status = 406;
    out.content_type = "application/json";
    return answer(std::move(out));
  }
  if (get && request.path == "/openapi/v2") {
    return answer(json_response(200, R"({"info":{"title":"allocation.agones.dev"},"paths":null})"));
  }
  if (get && request.path == "/openapi/v3") return answer(json_response(200, std::string{openapi_list()}));
  if (get && request.path == openapi_document_path) return answer(json_response(200, std::string{openapi_document()}));
  auto path = request.path;
  if (path.ends_with('/')) path.remove_suffix(1);
  if (get && path == detail::discovery_path) {
    auto const type = negotiate(request.header("Accept"));
    if (!type) return answer(detail::status_response(406, "Accept: only application/json and application/yaml can be answered"));
    return answer(detail::document_response(200, std::string{detail::discovery_document}, *type));
  }
  answer(text_response(404, "404 page not found"));
}

AGONES_ALLOC_DECL void kubernetes_front_end::allocate(http_request const& request, std::string_view encoded, reply done) {
  auto const answer = [&done](http_response response) {
    response.route = "kubernetes";
    std::move(done)(std::move(response));
  };
  auto const type = negotiate(request.header("Accept"));
  if (!type) return answer(detail::status_response(406, "Accept: only application/json and application/yaml can be answered"));

  if (has_foreign_origin(request)) {
    return answer(detail::status_response(403, std::string{foreign_origin_message}, *type));
  }
  auto const asked = detail::read_query(request.query, options_);
  if (auto const* problem = std::get_if<std::string>(&asked)) return answer(detail::status_response(400, *problem, *type));
  auto const& query = *std::get_if<detail::allocation_query>(&asked);
  auto const name = percent_decoded(encoded);
  if (!name) return answer(detail::status_response(400, "the namespace in the path is badly encoded", *type));

  if (!is_namespace_name(*name)) {
    return answer(detail::status_response(400, "the namespace in the path is no name: at most 63 of a-z, 0-9 and - are", *type));
  }

  auto body = decode_body(request, options_, query.validation);
  if (auto const* refusal = std::get_if<body_refusal>(&body)) {
    if (options_.compatible && !refusal->reference_message.empty()) return answer(text_response(500, refusal->reference_message));
    return answer(detail::status_response(refusal->status, refusal->message, *type));
  }
  auto& [gsa, warnings] = *std::get_if<decoded_body>(&body);
  gsa.meta.namespace_ = *name;
  gsa.meta.creation_timestamp = std::chrono::floor<std::chrono::seconds>(time_->wall_now());

  auto const& multi_cluster = gsa.spec.multi_cluster;
  auto const bad_policy_selector = detail::policy_selector_problem(multi_cluster);
  bool const wants_clusters = multi_cluster.enabled;
  auto const request_name = gsa.meta.name;
  if (auto const errors = check_bounds(gsa.spec, options_); !errors.empty()) {
    return answer(detail::document_response(422, invalid_status(request_name, errors), *type));
  }
  auto const exact = read_action_mode(request, gsa.meta.annotations, options_);
  if (auto const* problem = std::get_if<std::string>(&exact)) return answer(detail::status_response(400, *problem, *type));
  auto choice = options_.choice;
  choice.exact = *std::get_if<bool>(&exact);
  auto made = allocation_request::make(std::move(gsa), options_.gates, std::move(choice));
  if (auto const* errors = std::get_if<field_errors>(&made)) {
    return answer(detail::document_response(422, invalid_status(request_name, *errors), *type));
  }
  if (bad_policy_selector) {
    if (options_.compatible) return answer(text_response(500, *bad_policy_selector));
    return answer(detail::status_response(400, "spec.multiClusterSetting.policySelector: " + *bad_policy_selector, *type));
  }
  if (wants_clusters && !backend_->has_clusters()) {
    if (options_.compatible) return answer(text_response(500, no_policy_message));
    return answer(detail::status_response(500, std::string{no_policy_message}, *type));
  }

  auto made_request = std::move(*std::get_if<request_ptr>(&made));
  auto way = read_forwarded(request, *name, options_);
  if (auto* const refusal = std::get_if<forward_refusal>(&way)) {
    return answer(detail::status_response(refusal->status, std::move(refusal->message), *type));
  }
  auto& forwarded = *std::get_if<forwarded_request>(&way);
  auto read_terms = read_call_terms(request, made_request->allocation().meta.annotations, options_);
  if (auto* const problem = std::get_if<std::string>(&read_terms)) return answer(detail::status_response(400, std::move(*problem), *type));
  auto& terms = *std::get_if<call_terms>(&read_terms);
  auto const wait = terms.wait_for;
  bool const as_text = options_.compatible && wants_clusters;
  auto const slot = boost::asio::get_associated_cancellation_slot(done);
  auto const executor = boost::asio::get_associated_executor(done);
  allocation_backend::call call{made_request, time_->now() + query.time + wait, query.dry_run, std::move(terms),
                                forwarded.hops};
  backend_->allocate(
      std::move(call),
      boost::asio::bind_cancellation_slot(
          slot, boost::asio::bind_executor(executor, [done = std::move(done), kept = std::move(made_request), type = *type,
                                                      told = std::move(warnings), as_text, wait](error_code, allocation_result result) mutable {
            auto out = is_pending_answer(result) ? pending_answer(result) : detail::allocation_answer(kept, result, told, type);
            if (as_text && out.status == 500) out = text_response(500, failure_message(result));
            out.route = "kubernetes";
            add_claim_fields(out, result, wait);
            std::move(done)(std::move(out));
          })));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
