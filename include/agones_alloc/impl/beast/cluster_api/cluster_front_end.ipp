#pragma once

#include <agones_alloc/beast/cluster_api/cluster_documents.hpp>
#include <agones_alloc/beast/cluster_api/cluster_front_end.hpp>
#include <agones_alloc/beast/cluster_api/list_answer.hpp>
#include <agones_alloc/beast/query_string.hpp>
#include <agones_alloc/json/parse.hpp>
#include <agones_alloc/yaml/write.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline constexpr std::string_view unknown_path_message =
    "the embedded cluster has fleets and gameservers (agones.dev/v1), gameserverallocations (allocation.agones.dev/v1) "
    "and events (v1), and nothing at this path";
inline constexpr std::string_view not_acceptable_message =
    "Accept: application/json, of one object application/yaml, and application/json;as=Table;v=v1;g=meta.k8s.io can be answered";

/// Paths that belong to a Kubernetes API; the others may be anything.
inline auto is_api_path(std::string_view path) noexcept -> bool {
  for (std::string_view const root : {"/api", "/apis", "/openapi"}) {
    if (path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/')) return true;
  }
  return false;
}

inline auto refuse(int code, std::string_view message) -> http_response {
  api_refusal what;
  what.code = code;
  what.message = message;
  return to_response(what);
}

/// The namespace in a path of Events, "" for all; nullopt: another path.
inline auto events_namespace(std::string_view path) noexcept -> std::optional<std::string_view> {
  static constexpr std::string_view before = "/api/v1/namespaces/";
  static constexpr std::string_view after = "/events";
  if (path == "/api/v1/events") return std::string_view{};
  if (!path.starts_with(before) || !path.ends_with(after) || path.size() <= before.size() + after.size()) return std::nullopt;
  auto const space = path.substr(before.size(), path.size() - before.size() - after.size());
  if (space.find('/') != std::string_view::npos) return std::nullopt;
  return space;
}

/// One document in the type that was asked for.
inline auto one_document(std::string json, media_type type) -> http_response {
  switch (type) {
    case media_type::json: return json_response(200, json += '\n');
    case media_type::yaml: break;
  }
  http_response out;
  out.content_type = to_string(type);
  if (auto const value = parse_json(json)) out.body = yaml::write(*value);
  return out;
}

/// A Table with one row, as `kubectl get KIND NAME` wants it.
inline auto one_row(api_object const& object, object_form const& form) -> http_response {
  feed_page page;
  page.resource_version = meta_of(object).resource_version.str();
  page.objects.push_back(object);
  return list_response(std::move(page), form, std::string::npos);
}

}  // namespace detail

AGONES_ALLOC_DECL cluster_front_end::cluster_front_end(boost::asio::any_io_executor executor, memory_store& store,
                                                       embedded_cluster& cluster, timer& time, http_handler& others,
                                                       cluster_api_options options)
    : executor_{executor},
      store_{&store},
      cluster_{&cluster},
      time_{&time},
      others_{&others},
      options_{std::move(options)},
      no_events_{time, nullptr, 0},
      servers_{store},
      fleets_{executor, [&cluster] { return cluster.fleets(); }, time, options_.fleets},
      server_pages_{time, options_.kept_lists, options_.kept_list_time},
      fleet_pages_{time, options_.kept_lists, options_.kept_list_time} {}

AGONES_ALLOC_DECL void cluster_front_end::handle(http_request const& request, reply done) {
  auto out = answer(request);
  if (!out) return others_->handle(request, std::move(done));
  out->route = "cluster";
  std::move(done)(*std::move(out));
}

AGONES_ALLOC_DECL auto cluster_front_end::answer(http_request const& request) -> std::optional<http_response> {
  auto path = request.path;
  if (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  bool const reads = request.method == "GET" || request.method == "HEAD";
  if (auto document = cluster_document(path); !document.empty()) {
    if (reads) return json_response(200, document += '\n');
    return not_allowed("this document can only be read", "GET, HEAD");
  }
  if (auto const object = parse_served_path(path)) return about_objects(request, *object);
  if (auto const space = detail::events_namespace(path)) return events(request, *space);
  if (path.starts_with("/apis/allocation.agones.dev/") || path.starts_with("/openapi/")) return std::nullopt;
  if (!detail::is_api_path(path)) return std::nullopt;
  return detail::refuse(404, detail::unknown_path_message);
}

inline auto cluster_front_end::is_permitted(http_request const& request, std::string_view space) const -> bool {
  return !options_.may_use || options_.may_use(request, space);
}

inline auto cluster_front_end::events(http_request const& request, std::string_view space) -> http_response {
  if (request.method != "GET" && request.method != "HEAD") return not_allowed("events can only be listed", "GET, HEAD");
  if (!is_permitted(request, space)) return detail::refuse(403, "events of that namespace: the server's rules for clients do not name it");
  auto const accepted = read_accept(request.header("Accept"));
  if (!accepted || accepted->type != media_type::json) return detail::refuse(406, detail::not_acceptable_message);
  if (asks_for_watch(request.query).value_or(true)) return not_allowed("events can be listed, not watched", "GET, HEAD");
  auto const selectors = query_values(request.query, "fieldSelector");
  auto const wanted = parse_field_terms(selectors.empty() ? std::string_view{} : selectors.front());
  if (auto const* problem = std::get_if<std::string>(&wanted)) return detail::refuse(400, "fieldSelector: " + *problem);
  auto const& book = options_.events != nullptr ? *options_.events : no_events_;
  return json_response(200, book.list(space, *std::get_if<std::vector<field_term>>(&wanted), accepted->form));
}

inline auto cluster_front_end::about_objects(http_request const& request, served_path const& path) -> http_response {
  bool const fleets = path.plural == fleets_.kind().plural;
  if (!fleets && path.plural != servers_.kind().plural) return detail::refuse(404, detail::unknown_path_message);
  if (!is_permitted(request, path.space)) {
    return detail::refuse(403, path.plural + ".agones.dev is forbidden in " +
                                   (path.space.empty() ? "all namespaces together" : "namespace " + go_quoted(path.space)) +
                                   ": the server's rules for clients do not name it");
  }
  auto const kind = fleets ? served_kind{&fleets_, &fleet_pages_} : served_kind{&servers_, &server_pages_};
  if (path.name.empty()) return collection(request, path, kind);
  if (path.subresource.empty()) return one(request, path, kind);
  if (fleets && path.subresource == "scale") return scale(request, path);
  return detail::refuse(404, path.plural + " have no " + go_quoted(path.subresource) + "; fleets have scale");
}

inline auto cluster_front_end::collection(http_request const& request, served_path const& path, served_kind kind)
    -> http_response {
  if (request.method == "POST") {
    return not_allowed("nothing can be created in the embedded cluster but gameserverallocations: its fleets come from the manifests that the "
                       "server was started with (--fleets), its game servers from their fleets (kubectl scale)",
                       "GET, HEAD");
  }
  if (request.method == "DELETE") return not_allowed("one game server at a time can be deleted, by its name", "GET, HEAD");
  if (request.method != "GET" && request.method != "HEAD") return not_allowed("a list can only be read", "GET, HEAD");
  auto const accepted = read_accept(request.header("Accept"));
  if (!accepted || accepted->type != media_type::json) return detail::refuse(406, detail::not_acceptable_message);
  auto read = read_list_query(request.query);
  if (auto const* problem = std::get_if<std::string>(&read)) return detail::refuse(400, *problem);
  auto& query = *std::get_if<list_query>(&read);
  if (query.watch) return watch(path, kind, std::move(query), *accepted);
  auto page = take_page(*kind.feed, *kind.pages, query, path.space);
  if (auto const* problem = std::get_if<api_refusal>(&page)) return to_response(*problem);
  object_form const form{&kind.feed->kind(), accepted->form, query.rows, now()};
  return list_response(std::move(*std::get_if<feed_page>(&page)), form, options_.watch.piece_bytes);
}

inline auto cluster_front_end::watch(served_path const& path, served_kind kind, list_query query, accepted_form accepted)
    -> http_response {
  auto out = json_response(200, {});
  if (watches() >= options_.watches) {
    api_refusal what;
    what.code = 429;
    what.message = "there are " + std::to_string(options_.watches) + " watches already";
    what.retry_after = std::chrono::seconds{1};
    return to_response(what);
  }
  auto how = options_.watch;
  if (query.time && *query.time > std::chrono::seconds{0}) how.length = std::min<std::chrono::nanoseconds>(how.length, *query.time);
  object_form const form{&kind.feed->kind(), accepted.form, query.rows, now()};
  out.stream = std::make_shared<watch_stream>(executor_, *kind.feed, *time_, std::move(query), path.space, form, how, seats_);
  return out;
}

inline auto cluster_front_end::one(http_request const& request, served_path const& path, served_kind kind) -> http_response {
  bool const server = kind.feed == &servers_;
  if (request.method == "DELETE" && server) return remove(request, path);
  if (request.method != "GET" && request.method != "HEAD") {
    if (server) {
      return not_allowed("game servers of the embedded cluster change by being allocated and by their simulated life; they can be deleted",
                         "GET, HEAD, DELETE");
    }
    return not_allowed("fleets of the embedded cluster are as the manifests say that the server was started with; their size can be changed: kubectl scale",
                       "GET, HEAD");
  }
  auto const accepted = read_accept(request.header("Accept"));
  if (!accepted) return detail::refuse(406, detail::not_acceptable_message);
  auto const read = read_list_query(request.query);
  if (auto const* problem = std::get_if<std::string>(&read)) return detail::refuse(400, *problem);
  auto const found = kind.feed->find({shared_string{path.space}, shared_string{path.name}});
  if (!found) return to_response(not_found(path.plural, path.name));
  object_form const form{&kind.feed->kind(), accepted->form, std::get_if<list_query>(&read)->rows, now()};
  if (form.form == api_form::table) return detail::one_row(*found, form);
  std::string json;
  append_object(json, *found, form);
  return detail::one_document(std::move(json), accepted->type);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
