#pragma once

#include <agones_alloc/flow/write_fate.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL auto judge_write(error_code const& ec) noexcept -> write_answer {
  if (!ec) return write_answer::applied;
  if (ec == errc::refused) return write_answer::refused;
  if (ec == condition::conflict) return write_answer::conflict;
  if (ec == condition::gone) return write_answer::gone;
  if (ec == condition::invalid_request) return write_answer::refused;
  if (ec == condition::retryable) return write_answer::not_applied;
  if (ec == condition::cancelled) return write_answer::cancelled;
  return write_answer::unknown;
}

AGONES_ALLOC_DECL auto judge_read(game_server const& base, std::string_view stamp, game_server const& now) noexcept
    -> read_answer {
  if (now.meta.uid != base.meta.uid) return read_answer::gone;
  if (now.meta.resource_version == base.meta.resource_version) return read_answer::untouched;
  auto const seen = now.meta.annotations.value_or_empty(keys::last_allocated_annotation);
  if (!stamp.empty() && seen == stamp) return read_answer::applied;
  auto const others_stamp = seen != base.meta.annotations.value_or_empty(keys::last_allocated_annotation);
  return others_stamp ? read_answer::ambiguous : read_answer::superseded;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
