#pragma once

#include <agones_alloc/beast/detail/plain_answer.hpp>
#include <agones_alloc/beast/detail/wanted_form.hpp>
#include <agones_alloc/beast/fleets/fleet_query.hpp>
#include <agones_alloc/beast/fleets/fleet_stream.hpp>
#include <agones_alloc/beast/fleets/fleets_front_end.hpp>
#include <agones_alloc/json/write.hpp>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline auto fleets_failure(int status, std::string_view message) -> http_response { return plain_failure(status, message, "fleets"); }

/// Weak comparison (RFC 9110 13.1.2).
inline auto has_tag(std::string_view field, std::string_view tag) -> bool {
  while (!field.empty()) {
    auto const end = std::min(field.find(','), field.size());
    auto one = field.substr(0, end);
    field.remove_prefix(std::min(end + 1, field.size()));
    while (one.starts_with(' ')) one.remove_prefix(1);
    while (one.ends_with(' ')) one.remove_suffix(1);
    if (one == "*" || one == tag) return true;
    if (tag.starts_with("W/") && one == tag.substr(2)) return true;
  }
  return false;
}

}  // namespace detail

AGONES_ALLOC_DECL fleets_front_end::fleets_front_end(fleet_directory& directory, timer& time, front_end_options options,
                                                     fleets_options bounds)
    : directory_{&directory},
      options_{std::move(options)},
      form_{std::make_shared<server_sent_form>()},
      streams_{std::make_shared<detail::fleet_streams>(directory, time, checked(bounds), form_)} {}

AGONES_ALLOC_DECL fleets_front_end::~fleets_front_end() { streams_->stop(); }

AGONES_ALLOC_DECL auto fleets_front_end::counts() const noexcept -> fleet_stream_counts { return streams_->counts(); }

AGONES_ALLOC_DECL void fleets_front_end::handle(http_request const& request, reply done) {
  http_response out;
  if (request.path != fleets_path && request.path != servers_path) {
    out = detail::fleets_failure(404, "there is no such path");
  } else if (request.method != "GET" && request.method != "HEAD") {
    out = detail::method_refusal("Method Not Allowed", "GET, HEAD", "fleets");
  } else {
    out = request.path == fleets_path ? fleets(request) : servers(request);
  }
  std::move(done)(std::move(out));
}

AGONES_ALLOC_DECL auto fleets_front_end::fleets(http_request const& request) -> http_response {
  auto const form = detail::form_of(request.header("Accept"));
  if (form == detail::wanted_form::other) {
    return detail::fleets_failure(406, "Accept: application/json and text/event-stream can be answered");
  }
  auto read = read_fleet_query(request, options_);
  if (auto const* const refusal = std::get_if<query_refusal>(&read)) {
    return detail::fleets_failure(refusal->status, refusal->message);
  }
  auto& query = *std::get_if<fleet_query>(&read);
  http_response out;
  out.route = "fleets";
  if (form == detail::wanted_form::events) {
    out.route = "fleets stream";
    out.content_type = "text/event-stream";
    out.headers.emplace_back("Cache-Control", "no-store");
    out.headers.emplace_back("X-Accel-Buffering", "no");
    out.stream = streams_->open(std::move(query), request);
    if (out.stream != nullptr) return out;
    out = detail::fleets_failure(503, "too many streams are open");
    out.headers.emplace_back("Retry-After", "5");
    return out;
  }
  auto const page = directory_->snapshot(query.filter, query.after, query.limit);
  char digits[16];
  std::string const digest(digits, std::to_chars(digits, digits + sizeof digits, page.digest, 16).ptr);
  auto const parts = (query.parts.nodes ? 1 : 0) + (query.parts.annotations ? 2 : 0);
  auto const token = directory_->token_of(page.revision);
  auto tag = "W/\"" + token.substr(0, token.rfind('-')) + "-" + digest + "-" + std::to_string(parts) + "\"";
  bool const known = detail::has_tag(request.header("If-None-Match"), tag);
  // Every edit of a row has a number of its own, so these name a text. Who is told things of its own has no shape.
  auto key = query.shape.empty() ? std::string{} : query.shape + "\n" + tag + token + (page.more ? "+" : "");
  out.headers.emplace_back("ETag", std::move(tag));
  out.headers.emplace_back("Cache-Control", "no-cache");
  out.headers.emplace_back("Vary", "Accept");
  if (known) {
    out.status = 304;
    return out;
  }
  out.content_type = "application/json";
  bool const again = !key.empty() && key == last_key_;
  if (again && !last_body_.empty()) {
    out.body = last_body_;
    return out;
  }
  auto& texts = form_->texts();
  texts.expect(page.fleets.size());
  out.body.reserve(last_size_ + last_size_ / 16);
  out.body = "{\"fleets\":[";
  for (auto const& fleet : page.fleets) {
    if (out.body.back() != '[') out.body += ',';
    out.body += texts.of(fleet, query.parts);
  }
  out.body += "],\"clusters\":[";
  for (auto const& cluster : page.clusters) {
    if (out.body.back() != '[') out.body += ',';
    append_json(out.body, *cluster);
  }
  out.body.append("],\"token\":\"").append(token).append("\"");
  if (page.more) out.body.append(",\"continue\":\"").append(page_token(key_of(*page.fleets.back()))).append("\"");
  out.body += "}\n";
  last_size_ = out.body.size();
  last_body_ = again ? out.body : std::string{};  // kept only where it is asked for more than once
  last_key_ = std::move(key);
  return out;
}

AGONES_ALLOC_DECL auto fleets_front_end::servers(http_request const& request) const -> http_response {
  auto read = read_server_query(request, options_);
  if (auto const* const refusal = std::get_if<query_refusal>(&read)) {
    return detail::fleets_failure(refusal->status, refusal->message);
  }
  auto const& query = *std::get_if<server_query>(&read);
  bool more = false;
  auto const found = directory_->servers(query.ns, query.fleet, query.after, query.limit, more);
  http_response out;
  out.route = "gameservers";
  out.content_type = "application/json";
  out.headers.emplace_back("Cache-Control", "no-store");
  out.body = "{\"gameServers\":[";
  for (auto const& server : found) {
    if (out.body.back() != '[') out.body += ',';
    auto without_spec = *server;
    without_spec.spec = {};
    append_json(out.body, without_spec);
  }
  out.body += "]";
  if (more) out.body.append(",\"continue\":\"").append(page_token(found.back()->meta.name.view())).append("\"");
  out.body += "}\n";
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
