#pragma once

#include <agones_alloc/beast/kubernetes/detail/review_documents.hpp>
#include <agones_alloc/json/detail/writer.hpp>
#include <agones_alloc/json/parse.hpp>

#include <boost/json/value.hpp>

#include <algorithm>
#include <map>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

inline void review_head(wire::writer& to, std::string_view kind, std::string_view api_version) {
  to.open('{');
  to.key("kind");
  to.text(kind);
  to.key("apiVersion");
  to.text(api_version);
  to.key("spec");
  to.open('{');
}

inline void review_texts(wire::writer& to, std::vector<std::string> const& texts) {
  to.open('[');
  for (auto const& one : texts) to.text(one);
  to.close(']');
}

AGONES_ALLOC_DECL auto token_review(std::string_view token) -> std::string {
  return wire::written([&](wire::writer& to) {
    review_head(to, "TokenReview", "authentication.k8s.io/v1");
    to.key("token");
    to.text(token);
    to.close('}');
    to.close('}');
  });
}

AGONES_ALLOC_DECL auto subject_access_review(caller_identity const& who, std::string_view ns) -> std::string {
  static constexpr std::string_view everybody_known = "system:authenticated";
  auto groups = who.groups;
  if (std::find(groups.begin(), groups.end(), everybody_known) == groups.end()) groups.emplace_back(everybody_known);
  std::map<std::string, std::vector<std::string>> extra;
  for (auto const& [key, value] : who.extra) extra[key].push_back(value);
  return wire::written([&](wire::writer& to) {
    review_head(to, "SubjectAccessReview", "authorization.k8s.io/v1");
    to.key("user");
    to.text(who.user);
    if (!who.uid.empty()) {
      to.key("uid");
      to.text(who.uid);
    }
    to.key("groups");
    review_texts(to, groups);
    if (!extra.empty()) {
      to.key("extra");
      to.open('{');
      for (auto const& [key, values] : extra) {
        to.entry(key);
        review_texts(to, values);
      }
      to.close('}');
    }
    to.key("resourceAttributes");
    to.open('{');
    if (!ns.empty()) {
      to.key("namespace");
      to.text(ns);
    }
    to.key("verb");
    to.text("create");
    to.key("group");
    to.text("allocation.agones.dev");
    to.key("version");
    to.text("v1");
    to.key("resource");
    to.text("gameserverallocations");
    to.close('}');
    to.close('}');
    to.close('}');
  });
}

inline auto review_text(boost::json::object const& in, std::string_view key) -> std::string {
  auto const* const at = in.if_contains(key);
  return at == nullptr || !at->is_string() ? std::string{} : std::string{at->as_string().data(), at->as_string().size()};
}

inline auto review_list(boost::json::object const& in, std::string_view key) -> std::vector<std::string> {
  std::vector<std::string> out;
  auto const* const at = in.if_contains(key);
  if (at == nullptr || !at->is_array()) return out;
  for (auto const& one : at->as_array()) {
    if (one.is_string()) out.emplace_back(one.as_string().data(), one.as_string().size());
  }
  return out;
}

inline auto review_flag(boost::json::object const& in, std::string_view key) -> bool {
  auto const* const at = in.if_contains(key);
  return at != nullptr && at->is_bool() && at->as_bool();
}

/// `status` of a review of that kind; nullptr without.
inline auto review_status(boost::json::value const& document, std::string_view kind) -> boost::json::object const* {
  if (!document.is_object() || review_text(document.as_object(), "kind") != kind) return nullptr;
  auto const* const at = document.as_object().if_contains("status");
  return at == nullptr || !at->is_object() ? nullptr : &at->as_object();
}

AGONES_ALLOC_DECL auto read_token_review(std::string_view body) -> std::optional<std::optional<caller_identity>> {
  auto const document = parse_json(body);
  auto const* const status = document ? review_status(*document, "TokenReview") : nullptr;
  if (status == nullptr) return std::nullopt;
  auto const* const user = status->if_contains("user");
  std::optional<caller_identity> out;
  if (!review_flag(*status, "authenticated") || user == nullptr || !user->is_object()) return out;
  auto const& of = user->as_object();
  auto& who = out.emplace();
  who.source = identity_source::token;
  who.user = review_text(of, "username");
  who.uid = review_text(of, "uid");
  who.groups = review_list(of, "groups");
  if (auto const* const extra = of.if_contains("extra"); extra != nullptr && extra->is_object()) {
    for (auto const& [key, values] : extra->as_object()) {
      for (auto& value : review_list(extra->as_object(), key)) who.extra.emplace_back(std::string{key}, std::move(value));
    }
  }
  if (who.user.empty()) out.reset();
  return out;
}

AGONES_ALLOC_DECL auto read_subject_access_review(std::string_view body) -> std::optional<access_answer> {
  auto const document = parse_json(body);
  auto const* const status = document ? review_status(*document, "SubjectAccessReview") : nullptr;
  if (status == nullptr) return std::nullopt;
  return access_answer{review_flag(*status, "allowed") && !review_flag(*status, "denied"), review_text(*status, "reason")};
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
