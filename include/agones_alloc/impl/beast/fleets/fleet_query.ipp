#pragma once

#include <agones_alloc/beast/fleets/fleet_query.hpp>
#include <agones_alloc/beast/fleets/kept_request.hpp>
#include <agones_alloc/beast/query_parameters.hpp>
#include <agones_alloc/beast/query_string.hpp>
#include <agones_alloc/beast/remote/hop_header.hpp>
#include <agones_alloc/select/match.hpp>
#include <agones_alloc/select/selector_text.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline constexpr std::size_t most_in_page = 10'000;
inline constexpr std::size_t longest_selector = 4096;

inline auto to_hex(std::string_view bytes) -> std::string {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (char const c : bytes) {
    auto const byte = static_cast<unsigned char>(c);
    out += digits[byte >> 4U];
    out += digits[byte & 15U];
  }
  return out;
}

inline auto from_hex(std::string_view text) -> std::optional<std::string> {
  auto const value = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
  std::string out;
  if (text.empty() || text.size() % 2 != 0) return std::nullopt;
  for (std::size_t i = 0; i != text.size(); i += 2) {
    auto const high = value(text[i]);
    auto const low = value(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
  }
  return out;
}

inline auto read_page_token(std::string_view text) -> std::optional<fleet_key> {
  auto const bytes = from_hex(text);
  if (!bytes) return std::nullopt;
  auto const first = bytes->find('\0');
  auto const second = first == std::string::npos ? first : bytes->find('\0', first + 1);
  if (second == std::string::npos) return std::nullopt;
  std::string_view const all{*bytes};
  return fleet_key{all.substr(0, first), all.substr(first + 1, second - first - 1), all.substr(second + 1)};
}

inline void read_selector(query_parameters& in, fleet_query& out) {
  auto const text = in.text("labelSelector");
  if (!text) return;
  if (text->size() > longest_selector) return in.fail("labelSelector", "is longer than 4096 characters");
  auto parsed = parse_label_selector(*text);
  if (auto const* const problem = std::get_if<std::string>(&parsed)) return in.fail("labelSelector", *problem);
  if (auto const problem = compile_labels(*std::get_if<label_selector>(&parsed), out.filter.labels)) {
    return in.fail("labelSelector", *problem);
  }
  out.shape += "\nlabels=" + *text;
}

inline void read_parts(query_parameters& in, fleet_query& out) {
  auto const text = in.text("include");
  std::string_view left = text ? *text : std::string_view{};
  while (!left.empty()) {
    auto const end = std::min(left.find(','), left.size());
    auto const word = left.substr(0, end);
    left.remove_prefix(std::min(end + 1, left.size()));
    if (word == "nodes") {
      out.parts.nodes = true;
    } else if (word == "annotations") {
      out.parts.annotations = true;
    } else {
      return in.fail("include", "nodes and annotations can be included");
    }
  }
  if (out.parts.nodes) out.shape += "\nnodes";
  if (out.parts.annotations) out.shape += "\nannotations";
}

inline void read_page(query_parameters& in, fleet_query& out) {
  if (auto const limit = in.number("limit", 1, most_in_page)) out.limit = static_cast<std::size_t>(*limit);
  auto const token = in.text("continue");
  if (!token || token->empty()) return;
  out.after = read_page_token(*token);
  if (!out.after) in.fail("continue", "is no token of this server");
}

inline auto may_look(http_request const& request, front_end_options const& options, std::string_view space) -> bool {
  return !options.may_allocate || options.may_allocate(request, space);
}

inline auto no_right(std::string_view space) -> query_refusal {
  return {403, "namespace: the client may not look into namespace \"" + std::string{space} + "\""};
}

inline auto hop_problem(http_request const& request, front_end_options const& options, std::uint32_t& hops)
    -> std::optional<query_refusal> {
  auto const found = parse_hops(request.header(hop_header));
  if (!found) return query_refusal{400, std::string{hop_header} + ": a number is wanted"};
  if (*found > options.max_hops) return query_refusal{508, "the request has been forwarded too often: is there a loop?"};
  hops = *found;
  return std::nullopt;
}

}  // namespace detail

AGONES_ALLOC_DECL auto page_token(fleet_key const& key) -> std::string {
  std::string bytes = key.cluster.str();
  bytes.append(1, '\0').append(key.namespace_.view()).append(1, '\0').append(key.name.view());
  return detail::to_hex(bytes);
}

AGONES_ALLOC_DECL auto page_token(std::string_view name) -> std::string { return detail::to_hex(name); }

AGONES_ALLOC_DECL auto fleets_namespace_of(http_request const& request, front_end_options const& options) -> std::string {
  std::string out = request.path == "/v1/gameservers" ? options.default_namespace : std::string{};
  for (auto& value : query_values(request.query, "namespace")) out = std::move(value);
  return out;
}

AGONES_ALLOC_DECL auto read_fleet_query(http_request const& request, front_end_options const& options)
    -> std::variant<fleet_query, query_refusal> {
  query_parameters in{request.query};
  fleet_query out;
  out.filter.namespace_ = in.space().value_or("");
  out.filter.cluster = in.text("cluster").value_or("");
  out.filter.local_only = !in.flag("multiCluster").value_or(true);
  detail::read_selector(in, out);
  detail::read_parts(in, out);
  detail::read_page(in, out);
  out.resume = in.text("resume").value_or("");
  if (auto last = request.header("Last-Event-ID"); !last.empty()) out.resume = std::move(last);
  in.finish();
  if (!in.ok()) return query_refusal{400, in.problem()};
  if (auto refusal = admit_fleet_query(out, request, options)) return *std::move(refusal);
  return out;
}

AGONES_ALLOC_DECL auto admit_fleet_query(fleet_query& query, http_request const& request, front_end_options const& options)
    -> std::optional<query_refusal> {
  std::uint32_t hops = 0;
  if (auto problem = detail::hop_problem(request, options, hops)) return problem;
  auto& filter = query.filter;
  filter.local_only = filter.local_only || hops != 0;
  query.shape += "\nnamespace=" + filter.namespace_ + "\ncluster=" + filter.cluster + (filter.local_only ? "\nlocal" : "\nall");
  if (!options.may_allocate) return std::nullopt;
  if (!filter.namespace_.empty()) {
    if (!detail::may_look(request, options, filter.namespace_)) return detail::no_right(filter.namespace_);
    return std::nullopt;
  }
  query.shape.clear();
  filter.may_see = [kept = std::make_shared<detail::kept_request const>(request),
                    may = options.may_allocate](std::string_view space) { return may(*kept, space); };
  return std::nullopt;
}

AGONES_ALLOC_DECL auto read_server_query(http_request const& request, front_end_options const& options)
    -> std::variant<server_query, query_refusal> {
  query_parameters in{request.query};
  server_query out;
  std::uint32_t hops = 0;
  if (auto problem = detail::hop_problem(request, options, hops)) return *std::move(problem);
  out.ns = in.space().value_or(options.default_namespace);
  out.fleet = in.text("fleet").value_or("");
  if (auto const limit = in.number("limit", 1, detail::most_in_page)) out.limit = static_cast<std::size_t>(*limit);
  if (auto const token = in.text("continue"); token && !token->empty()) {
    auto name = detail::from_hex(*token);
    if (!name) in.fail("continue", "is no token of this server");
    out.after = std::move(name).value_or("");
  }
  in.finish();
  if (out.ns.empty()) in.fail("namespace", "must not be empty");
  if (!in.ok()) return query_refusal{400, in.problem()};
  if (!detail::may_look(request, options, out.ns)) return detail::no_right(out.ns);
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
