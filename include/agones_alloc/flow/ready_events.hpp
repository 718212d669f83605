// What a game says in a stream of server-sent events about players joining it: out of the bytes of its HTTP answer. No I/O.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/readiness.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Reads the head of an answer, which must be `200` with `Content-Type: text/event-stream` and without a transfer coding, and then
/// events as the HTML standard says (9.2.6): of those named `ready` and `failed` the first counts whose data is "", "true" or
/// the id of the allocation, so that what is said about an earlier one does not. A lone event's data may be missing. Everything else is
/// skipped: comments, other events, `id`, `retry`. A length that the head tells is not looked at. Bounded: see below. A value; not thread-safe.
class ready_events {
 public:
  static constexpr std::size_t most_line = 1024;
  static constexpr std::size_t most_head = 8192;
  static constexpr std::size_t most_bytes = std::size_t{1} << 20U;  ///< in all

  explicit ready_events(std::string id) : id_{std::move(id)} {}

  /// `ready` or `failed` as the game says; `pending`: it cannot be read any further; nullopt: there must be more of it.
  AGONES_ALLOC_DECL auto take(std::string_view bytes) -> std::optional<probe_answer>;
  /// The answer's head was good: events follow.
  auto is_open() const noexcept -> bool { return part_ == part::events; }

 private:
  enum class part : std::uint8_t { status, fields, events };

  auto end_line() -> std::optional<probe_answer>;
  auto end_of_head() noexcept -> std::optional<probe_answer>;
  auto head_field(std::string_view line) -> std::optional<probe_answer>;
  auto end_event() -> std::optional<probe_answer>;
  void event_field(std::string_view line);

  std::string id_;
  std::string line_;
  std::string what_;  ///< of the event
  std::string data_;
  std::size_t data_lines_{0};
  std::size_t size_{0};
  part part_{part::status};
  bool after_return_{false};
  bool is_stream_{false};
  bool first_line_{true};  ///< of the events: it may begin with a byte order mark
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/flow/ready_events.ipp>
#endif
