// What another cluster answers, and what policies and options name: statuses, bodies, endpoints, rules.
#include "require.hpp"

#include <agones_alloc/beast/namespace_rules.hpp>
#include <agones_alloc/beast/remote/endpoint.hpp>
#include <agones_alloc/beast/remote/hop_header.hpp>
#include <agones_alloc/beast/remote/remote_answer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

using fuzz::require;
using namespace agones_alloc;

namespace {

/// The first line is a status, the rest a body.
void judge(std::string_view text) {
  auto const line = text.substr(0, text.find('\n'));
  client_response answer;
  for (char const c : line.substr(0, 3)) answer.status = answer.status * 10 + (c >= '0' && c <= '9' ? c - '0' : 0);
  answer.body = text.substr(std::min(line.size() + 1, text.size()));
  remote_call call;
  call.endpoint = "east:443";
  call.namespace_ = "games";
  auto const out = judge_remote_answer(answer, call, {418});
  require((out.result == outcome::allocated) == (out.server != nullptr));
  require(out.result != outcome::allocated || (answer.status == 200 && !out.server->meta.name.empty()));
  require(out.message.view().size() < 2000);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string_view const text{reinterpret_cast<char const*>(data), size};
  judge(text);
  auto const parsed = parse_endpoint(text, true);
  if (auto const* endpoint = std::get_if<client_endpoint>(&parsed)) {
    require(!endpoint->host.empty() && endpoint->port != 0);
    bool const six = endpoint->host.find(':') != std::string::npos;
    auto const again = parse_endpoint((endpoint->tls ? "https://" : "http://") + (six ? "[" + endpoint->host + "]" : endpoint->host) +
                                          ":" + std::to_string(endpoint->port), true);
    auto const* same = std::get_if<client_endpoint>(&again);
    require(same != nullptr && same->host == endpoint->host && same->port == endpoint->port && same->tls == endpoint->tls);
  }
  auto const rule = parse_namespace_rule(text);
  if (auto const* found = std::get_if<namespace_rule>(&rule)) require(!found->name.empty() && !found->namespaces.empty());
  if (auto const hops = parse_hops(text)) require(*hops <= 1000);
  return 0;
}
