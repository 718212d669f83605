#pragma once

#include <agones_alloc/beast/probes.hpp>
#include <agones_alloc/beast/query_string.hpp>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL auto probes::results() const -> std::map<std::string, std::string> {
  std::map<std::string, std::string> out;
  for (auto const& [name, c] : live_) out.insert_or_assign(name, c());
  for (auto const& [name, c] : ready_) out.insert_or_assign(name, c());
  return out;
}

AGONES_ALLOC_DECL void probes::handle(http_request const& request, reply done) {
  http_response out;
  if (request.method != "GET" && request.method != "HEAD") {
    out = text_response(405, "Method Not Allowed");
    out.headers.emplace_back("Allow", "GET, HEAD");
    out.route = "probe";
    return std::move(done)(std::move(out));
  }
  boost::json::object listed;
  auto const ask = [&](std::map<std::string, check> const& checks) {
    for (auto const& [name, c] : checks) {
      auto const problem = c();
      if (!problem.empty()) out.status = 503;
      listed[name] = problem.empty() ? "OK" : problem;
    }
  };
  ask(live_);
  if (request.path != "/live") ask(ready_);
  auto const full = query_values(request.query, "full");
  out.body = std::find(full.begin(), full.end(), "1") != full.end() ? boost::json::serialize(listed) : "{}";
  out.body += '\n';
  out.content_type = "application/json; charset=utf-8";
  out.headers.emplace_back("Cache-Control", "no-store");
  out.route = "probe";
  std::move(done)(std::move(out));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
