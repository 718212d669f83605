#pragma once

#include <agones_alloc/error.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

// Fixed ids: comparable across shared objects and across the two shapes.
class errc_category final : public boost::system::error_category {
 public:
  constexpr errc_category() noexcept : error_category{0x61676f6e65730001ULL} {}
  auto name() const noexcept -> char const* override { return "agones_alloc"; }
  auto message(int value) const -> std::string override {
    switch (static_cast<errc>(value)) {
      case errc::ok: return "success";
      case errc::conflict: return "the object was changed by another writer";
      case errc::not_found: return "the object does not exist";
      case errc::refused: return "the store refused the request";
      case errc::unavailable: return "the store is unavailable";
      case errc::too_many_requests: return "the store asks to slow down";
      case errc::outcome_unknown: return "the outcome of a sent request is unknown";
      case errc::invalid_request: return "invalid request";
      case errc::exhausted: return "no game server matches";
      case errc::contention: return "too many concurrent requests";
      case errc::deadline_exceeded: return "deadline exceeded";
      case errc::cancelled: return "cancelled";
      case errc::too_old: return "resource version too old";
      case errc::malformed: return "malformed input";
      case errc::limit_exceeded: return "input exceeds a limit";
    }
    return "unknown error";
  }
  auto default_error_condition(int value) const noexcept -> error_condition override {
    switch (static_cast<errc>(value)) {
      case errc::conflict: return condition::conflict;
      case errc::not_found: return condition::gone;
      case errc::unavailable:
      case errc::too_many_requests:
      case errc::contention: return condition::retryable;
      case errc::outcome_unknown: return condition::outcome_unknown;
      case errc::cancelled: return condition::cancelled;
      case errc::invalid_request:
      case errc::malformed:
      case errc::limit_exceeded: return condition::invalid_request;
      case errc::ok:
      case errc::refused:
      case errc::exhausted:
      case errc::deadline_exceeded:
      case errc::too_old: break;
    }
    return {value, *this};
  }
};

class condition_category_type final : public boost::system::error_category {
 public:
  constexpr condition_category_type() noexcept : error_category{0x61676f6e65730002ULL} {}
  auto name() const noexcept -> char const* override { return "agones_alloc.condition"; }
  auto message(int value) const -> std::string override {
    switch (static_cast<condition>(value)) {
      case condition::retryable: return "retryable";
      case condition::conflict: return "conflict";
      case condition::outcome_unknown: return "outcome unknown";
      case condition::cancelled: return "cancelled";
      case condition::invalid_request: return "invalid request";
      case condition::gone: return "gone";
    }
    return "unknown condition";
  }
};

inline constexpr errc_category errc_category_instance{};
inline constexpr condition_category_type condition_category_instance{};

}  // namespace detail

AGONES_ALLOC_DECL auto category() noexcept -> boost::system::error_category const& { return detail::errc_category_instance; }
AGONES_ALLOC_DECL auto condition_category() noexcept -> boost::system::error_category const& {
  return detail::condition_category_instance;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
