// What a server answers a matchmaker's client: of allocations, confirmations and releases.
#include "require.hpp"

#include <agones_alloc/beast/client/ticket_exchange.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

using fuzz::require;
using namespace agones_alloc;

/// The first line is a status, the rest a body.
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string_view const text{reinterpret_cast<char const*>(data), size};
  auto const line = text.substr(0, text.find('\n'));
  client_response answer;
  for (char const c : line.substr(0, 3)) answer.status = answer.status * 10 + (c >= '0' && c <= '9' ? c - '0' : 0);
  answer.body = text.substr(std::min(line.size() + 1, text.size()));

  auto const handed_out = judge_allocation({}, answer, "games", {}, {418});
  require((handed_out.answer == ticket_answer::done) == (handed_out.server != nullptr));
  require(handed_out.answer != ticket_answer::other && handed_out.answer != ticket_answer::missing);
  for (std::string_view const told : {"", "gs-1"}) {
    auto const of_claim = judge_claim({}, answer, "games", told);
    bool const good = of_claim.answer == ticket_answer::done || of_claim.answer == ticket_answer::other;
    require(good == (of_claim.server != nullptr));
    require(!good || (answer.status == 200 && !of_claim.server->meta.name.empty()));
    require(of_claim.answer != ticket_answer::other || (!told.empty() && of_claim.server->meta.name != told));
    require(of_claim.message.size() < 1000);
  }

  // Whatever an id is, it is one segment of the path, and no header or query of its own.
  auto const request = claim_exchange(ticket_step::release, "games", text, release_to::ready);
  auto const path = std::string_view{request.target}.substr(0, request.target.find('?'));
  require(std::count(path.begin(), path.end(), '/') == 3);
  require(std::all_of(request.target.begin(), request.target.end(), [](char c) { return c > ' ' && c < '\x7f'; }));
  require(request.target.ends_with(":release?namespace=games&to=ready"));
  return 0;
}
