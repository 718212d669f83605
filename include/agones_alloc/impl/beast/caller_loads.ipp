#pragma once

#include <agones_alloc/beast/caller_loads.hpp>

#include <initializer_list>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

/// Each part apart from the next, whatever it holds.
inline auto joined(std::initializer_list<std::string_view> parts) -> std::string {
  std::string out;
  for (auto const part : parts) out.append(std::to_string(part.size())).append(1, ':').append(part);
  return out;
}

}  // namespace detail

AGONES_ALLOC_DECL auto caller_key(http_request const& request) -> std::string {
  if (auto const* const who = request.caller; who != nullptr && !who->user.empty()) return detail::joined({"user", who->user});
  if (auto const* const shown = request.client; shown != nullptr) {
    auto out = detail::joined({"certificate", shown->common_name});
    for (auto const& one : shown->organizations) out += detail::joined({one});
    return out;
  }
  return detail::joined({"address", request.peer});
}

AGONES_ALLOC_DECL auto caller_loads::enter(std::string caller, bool urgent) -> pass {
  auto const at = state_->callers.try_emplace(std::move(caller), 0).first;
  auto const most = urgent ? most_ + most_ / 8 + 1 : most_;
  if (most_ != 0 && at->second >= most) {
    ++refused_;
    return {};
  }
  ++at->second;
  ++state_->requests;
  return {state_, *at};
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
