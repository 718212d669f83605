#pragma once

#include <agones_alloc/flow/breaker.hpp>

#include <limits>
#include <stdexcept>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL void check(breaker_options const& options) {
  if (options.failures == 0) throw std::invalid_argument{"breaker_options::failures must be at least 1"};
  check(options.open, "breaker_options::open");
}

AGONES_ALLOC_DECL auto to_string(breaker_state state) noexcept -> std::string_view {
  switch (state) {
    case breaker_state::closed: return "closed";
    case breaker_state::open: return "open";
    case breaker_state::half_open: return "half_open";
  }
  return "";
}

AGONES_ALLOC_DECL auto breaker::ask(time_point now) noexcept -> admission {
  switch (state_) {
    case breaker_state::closed: return admission::yes;
    case breaker_state::half_open: return admission::no;
    case breaker_state::open: break;
  }
  return begin_probe(now) ? admission::probe : admission::no;
}

AGONES_ALLOC_DECL auto breaker::begin_probe(time_point now) noexcept -> bool {
  if (state_ != breaker_state::open || now < until_) return false;
  state_ = breaker_state::half_open;
  return true;
}

AGONES_ALLOC_DECL void breaker::probed(bool answers, time_point now, double draw, breaker_options const& options) noexcept {
  if (state_ != breaker_state::half_open) return;
  if (!answers) return open(now, draw, options);
  state_ = breaker_state::closed;
  failures_ = options.failures - 1;
}

AGONES_ALLOC_DECL void breaker::succeeded() noexcept { *this = {}; }

AGONES_ALLOC_DECL void breaker::failed(admission told, time_point now, double draw,
                                       breaker_options const& options) noexcept {
  if (failures_ != std::numeric_limits<std::uint32_t>::max()) ++failures_;
  switch (state_) {
    case breaker_state::closed:
      if (failures_ >= options.failures) open(now, draw, options);
      return;
    case breaker_state::half_open:
      if (told == admission::probe) open(now, draw, options);
      return;
    case breaker_state::open: return;
  }
}

AGONES_ALLOC_DECL void breaker::withdrawn(admission told, time_point now) noexcept {
  if (told != admission::probe || state_ != breaker_state::half_open) return;
  state_ = breaker_state::open;
  until_ = now;
}

AGONES_ALLOC_DECL void breaker::open(time_point now, double draw, breaker_options const& options) noexcept {
  state_ = breaker_state::open;
  ++openings_;
  until_ = now + backoff{options.open}.wait_after(openings_, draw).value_or(options.open.cap);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
