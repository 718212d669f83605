// How long until the cache is filled, next to a bare list of the same servers.
#pragma once

#include "allocate.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// Where the list goes on: "" at its end. The metadata of a list is the last of it.
inline auto continue_token(std::string_view page) -> std::string_view {
  static constexpr std::string_view before = R"("metadata":{"continue":")";
  auto const at = page.rfind(before);
  if (at == std::string_view::npos) return {};
  page.remove_prefix(at + before.size());
  return page.substr(0, page.find('"'));
}

struct bare_list {
  double ms{0};
  std::size_t bytes{0};
};

/// With a connection of its own, in pages as large as ours; the bytes are not looked at.
inline auto list_bare(environment& env, std::string const& ns) -> bare_list {
  auto const client = env.make_client(1);
  auto const page = agones_alloc::kubernetes_watch_options{}.page;
  bare_list out;
  std::string token;
  auto const begin = clock_type::now();
  do {
    auto target = agones_alloc::collection_path(stock::kind, ns);
    agones_alloc::add_query(target, "limit", std::to_string(page));
    if (!token.empty()) agones_alloc::add_query(target, "continue", token);
    auto const answer = ask(env, *client, request("GET", target), {200});
    out.bytes += answer.body.size();
    token = continue_token(answer.body);
  } while (!token.empty());
  out.ms = milliseconds_since(begin);
  client->close();
  env.io.restart();
  env.io.poll();
  return out;
}

struct start_figures {
  std::vector<double> bare_ms;
  std::vector<double> synced_ms;
  std::size_t bytes{0};
};

inline auto measure_start(environment& env, stock& servers, std::size_t rounds) -> start_figures {
  start_figures out;
  for (std::size_t i = 0; i < rounds; ++i) {
    auto const bare = list_bare(env, servers.ns());
    out.bare_ms.push_back(bare.ms);
    out.bytes = bare.bytes;
    auto const begin = clock_type::now();
    replica ours{env, replica_options{servers.ns()}};
    ours.sync();
    out.synced_ms.push_back(milliseconds_since(begin));
    ours.stop();
  }
  return out;
}

}  // namespace bench
