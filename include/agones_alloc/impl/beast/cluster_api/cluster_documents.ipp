#pragma once

#include <agones_alloc/beast/cluster_api/cluster_documents.hpp>
#include <agones_alloc/beast/openapi_document.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

// clang-format off
inline constexpr std::array<std::pair<std::string_view, std::string_view>, 7> cluster_documents{{
    {"/version",
     R"({"major":"1","minor":"33","gitVersion":"v1.33.0+agones-alloc","gitCommit":"","gitTreeState":"","buildDate":"",)"
     R"("goVersion":"","compiler":"","platform":"embedded"})"},
    {"/api", R"({"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":[]})"},
    {"/api/v1", R"({"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"events","singularName":"event","namespaced":true,)"
     R"("kind":"Event","verbs":["list"],"shortNames":["ev"]}]})"},
    {"/apis",
     R"({"kind":"APIGroupList","apiVersion":"v1","groups":[)"
     R"({"name":"agones.dev","versions":[{"groupVersion":"agones.dev/v1","version":"v1"}],)"
     R"("preferredVersion":{"groupVersion":"agones.dev/v1","version":"v1"}},)"
     R"({"name":"allocation.agones.dev","versions":[{"groupVersion":"allocation.agones.dev/v1","version":"v1"}],)"
     R"("preferredVersion":{"groupVersion":"allocation.agones.dev/v1","version":"v1"}}]})"},
    {"/apis/agones.dev",
     R"({"kind":"APIGroup","apiVersion":"v1","name":"agones.dev","versions":[{"groupVersion":"agones.dev/v1","version":"v1"}],)"
     R"("preferredVersion":{"groupVersion":"agones.dev/v1","version":"v1"}})"},
    {"/apis/allocation.agones.dev",
     R"({"kind":"APIGroup","apiVersion":"v1","name":"allocation.agones.dev",)"
     R"("versions":[{"groupVersion":"allocation.agones.dev/v1","version":"v1"}],)"
     R"("preferredVersion":{"groupVersion":"allocation.agones.dev/v1","version":"v1"}})"},
    {"/apis/agones.dev/v1",
     R"({"kind":"APIResourceList","apiVersion":"v1","groupVersion":"agones.dev/v1","resources":[)"
     R"({"name":"fleets","singularName":"fleet","namespaced":true,"kind":"Fleet","verbs":["get","list","watch"],)"
     R"("shortNames":["flt"]},)"
     R"({"name":"fleets/scale","singularName":"","namespaced":true,"group":"autoscaling","version":"v1","kind":"Scale",)"
     R"("verbs":["get","patch","update"]},)"
     R"({"name":"gameservers","singularName":"gameserver","namespaced":true,"kind":"GameServer",)"
     R"("verbs":["delete","get","list","watch"],"shortNames":["gs"]}]})"},
}};
// clang-format on

// The hash lets clients keep the document: another one for another text.
inline constexpr std::string_view cluster_openapi_entry =
    R"("apis/agones.dev/v1":{"serverRelativeURL":"/openapi/v3/apis/agones.dev/v1?hash=18C399814EAECD8AE6439A0F1079FC72"})";

}  // namespace detail

AGONES_ALLOC_DECL auto cluster_document(std::string_view path) -> std::string {
  if (path == "/openapi/v3/apis/agones.dev/v1") return std::string{cluster_openapi_document()};
  if (path == "/openapi/v3") {
    static constexpr std::string_view begin = R"({"paths":{)";
    return std::string{begin} + std::string{detail::cluster_openapi_entry} + "," + std::string{openapi_list().substr(begin.size())};
  }
  auto const at = std::find_if(detail::cluster_documents.begin(), detail::cluster_documents.end(),
                               [path](auto const& one) { return one.first == path; });
  return at == detail::cluster_documents.end() ? std::string{} : std::string{at->second};
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
