// The annotation of a claim, written by who knows whom: the first line is the claim's id, the rest the annotation.
#include "require.hpp"

#include <agones_alloc/select/claim.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

using fuzz::require;
using namespace agones_alloc;

namespace {

auto server_with(std::string_view id, std::string_view text) -> game_server {
  game_server out;
  out.meta.name = "gs-1";
  out.meta.namespace_ = "default";
  out.meta.labels = {{"map", "harbour"}};
  out.meta.annotations = {{"note", "new"}};
  out.meta.annotations.set(claim_annotation(id), text);
  out.status.state = game_server_state::allocated;
  out.status.counters.emplace("rooms", counter_status{3, 8});
  out.status.lists.emplace("players", list_status{8, std::vector<shared_string>{"ann", "bob"}});
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string_view const input{reinterpret_cast<char const*>(data), size};
  auto const id = input.substr(0, input.find('\n'));
  auto const text = input.substr(std::min(id.size() + 1, size));
  auto const server = server_with(id, text);
  require(has_claims(server));
  auto const claim = find_claim(server, id);
  auto const all = claims_of(server);
  require(claim ? all.size() == 1 && all.front() == *claim : all.empty());
  require(!claim || (claim->id == id && request_id_problem(id).empty()));

  auto confirmed = server;
  require(confirm_claim(confirmed, id) == claim.has_value());
  wall_time const when{std::chrono::seconds{1'800'000'000} + std::chrono::nanoseconds{7}};
  auto expiring = server;
  require(expire_claim_at(expiring, id, when) == claim.has_value());
  auto released = server;
  require(release_claim(released, id, release_to::ready).has_value() == claim.has_value());
  if (!claim) {
    require(confirmed == server && expiring == server && released == server);
    return 0;
  }
  require(find_claim(confirmed, id) && !find_claim(confirmed, id)->expires);
  require(find_claim(expiring, id) && find_claim(expiring, id)->expires == when);
  require(expiring.meta.annotations.contains(keys::claim_expires_annotation));
  require(!find_claim(released, id));
  auto const& rooms = released.status.counters.at("rooms");
  require(rooms.count >= 0);
  require(released.status.lists.at("players").count() <= 2);
  return 0;
}
