#pragma once

#include <agones_alloc/beast/cluster_api/cluster_front_end.hpp>
#include <agones_alloc/beast/cluster_api/write_body.hpp>
#include <agones_alloc/beast/request_bounds.hpp>
#include <agones_alloc/json/detail/write_meta.hpp>
#include <agones_alloc/json/write.hpp>

#include <memory>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

/// autoscaling/v1 Scale of a fleet, had it that many replicas.
inline auto scale_document(fleet const& one, std::int64_t replicas) -> std::string {
  object_meta shown;
  shown.name = one.meta.name;
  shown.namespace_ = one.meta.namespace_;
  shown.uid = one.meta.uid;
  shown.resource_version = one.meta.resource_version;
  shown.creation_timestamp = one.meta.creation_timestamp;
  return wire::written([&](wire::writer& to) {
    wire::open_object(to, "Scale", "autoscaling/v1", shown, shown.name);
    to.key("spec");
    to.open('{');
    to.key("replicas");
    to.number(replicas);
    to.close('}');
    to.key("status");
    to.open('{');
    to.key("replicas");
    to.number(one.status.replicas);
    to.key("selector");
    to.text(std::string{keys::fleet_label} + "=" + one.meta.name.str());
    to.close('}');
    to.close('}');
  });
}

/// Whether the object is the one that the change is meant for; else a conflict.
inline auto identity_problem(write_terms const& terms, object_meta const& meta, std::string_view plural)
    -> std::optional<api_refusal> {
  auto const conflict = [&](std::string_view what, std::string_view wanted, std::string_view found) {
    api_refusal out;
    out.code = 409;
    out.message = "Operation cannot be fulfilled on " + std::string{plural} + ".agones.dev " + go_quoted(meta.name) + ": its " +
                  std::string{what} + " is " + std::string{found} + ", not " + std::string{wanted};
    out.kind = plural;
    out.name = meta.name.str();
    return out;
  };
  if (!terms.uid.empty() && meta.uid != std::string_view{terms.uid}) return conflict("uid", terms.uid, meta.uid);
  if (!terms.resource_version.empty() && meta.resource_version != std::string_view{terms.resource_version}) {
    return conflict("resourceVersion", terms.resource_version, meta.resource_version);
  }
  return std::nullopt;
}

inline auto invalid_fleet(std::string const& name, field_errors errors) -> api_refusal {
  api_refusal out;
  out.code = 422;
  out.message = "Fleet.agones.dev " + go_quoted(name) + " is invalid: " + to_string(errors);
  out.kind = "Fleet";
  out.name = name;
  out.causes = std::move(errors);
  return out;
}

inline constexpr std::string_view foreign_change_message = "Origin: pages of other hosts must not change anything";

}  // namespace detail

inline auto cluster_front_end::scale(http_request const& request, served_path const& path) -> http_response {
  object_key const key{shared_string{path.space}, shared_string{path.name}};
  bool const reads = request.method == "GET" || request.method == "HEAD";
  if (!reads && request.method != "PUT" && request.method != "PATCH") {
    return not_allowed("a scale can be read, replaced and patched", "GET, HEAD, PUT, PATCH");
  }
  auto const answer = [&](std::int64_t replicas) {
    return json_response(200, detail::scale_document(*std::get<fleet_ptr>(*fleets_.find(key)), replicas) + "\n");
  };
  auto const found = fleets_.find(key);
  if (!found) return to_response(not_found(path.plural, path.name));
  auto const& now = *std::get<fleet_ptr>(*found);
  if (reads) return answer(now.replicas);

  if (has_foreign_origin(request)) return detail::refuse(403, detail::foreign_change_message);
  auto read = read_scale(request);
  if (auto* problem = std::get_if<api_refusal>(&read)) {
    problem->name = path.name;
    return to_response(*problem);
  }
  auto const& change = *std::get_if<scale_change>(&read);
  for (auto const& [said, meant] : {std::pair{&change.name, &path.name}, std::pair{&change.space, &path.space}}) {
    if (!said->empty() && *said != *meant) {
      return detail::refuse(400, "metadata: " + go_quoted(*said) + " is not what the path says, " + go_quoted(*meant));
    }
  }
  if (auto const problem = detail::identity_problem(change.terms, now.meta, path.plural)) return to_response(*problem);
  if (change.tested && *change.tested != now.replicas) {
    return to_response(detail::invalid_fleet(path.name, {{field_error_type::invalid, "spec.replicas", std::to_string(now.replicas),
                                                          "is not " + std::to_string(*change.tested) + ", for which the patch tests"}}));
  }
  auto const replicas = change.replicas.value_or(now.replicas);
  if (change.terms.dry_run) {
    if (replicas >= 0 && replicas <= options_.max_replicas) return answer(replicas);
    return to_response(detail::invalid_fleet(path.name, {{field_error_type::invalid, "spec.replicas", std::to_string(replicas),
                                                          "must be between 0 and " + std::to_string(options_.max_replicas)}}));
  }
  if (auto errors = cluster_->scale(key, replicas); !errors.empty()) {
    return to_response(detail::invalid_fleet(path.name, std::move(errors)));
  }
  return answer(replicas);
}

/// As Agones' finalizer has it: marked now, gone when its life has come to an end, and then replaced by its fleet.
inline auto cluster_front_end::remove(http_request const& request, served_path const& path) -> http_response {
  if (has_foreign_origin(request)) return detail::refuse(403, detail::foreign_change_message);
  auto const read = read_delete_options(request);
  if (auto const* problem = std::get_if<api_refusal>(&read)) return to_response(*problem);
  auto const& terms = *std::get_if<write_terms>(&read);
  object_key const key{shared_string{path.space}, shared_string{path.name}};
  while (true) {
    auto const base = store_->find(key);
    if (!base) return to_response(not_found(path.plural, path.name));
    if (auto const problem = detail::identity_problem(terms, base->meta, path.plural)) return to_response(*problem);
    auto desired = *base;
    if (desired.meta.deletion_timestamp == unset_time) {
      desired.meta.deletion_timestamp = now();
      auto extra = desired.meta.extra ? *desired.meta.extra : meta_extra{};
      extra.deletion_grace_period_seconds = 0;
      desired.meta.extra = std::make_shared<meta_extra const>(std::move(extra));
      if (!terms.dry_run) {
        auto written = store_->update(*base, desired);
        if (!written && written.error() == errc::conflict) continue;  // somebody was faster: with what is there now
        if (!written) return to_response(not_found(path.plural, path.name));
        desired = **written;
      }
    }
    return json_response(200, to_json(desired) + "\n");
  }
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
