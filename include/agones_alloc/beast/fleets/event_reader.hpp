// Server-sent events out of bytes.
#pragma once

#include <agones_alloc/config.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct server_sent_event {
  std::string what;  ///< `event`; "message" when absent
  std::string data;
  std::string id;    ///< the last one that was sent, now or before
};

/// Reads as the HTML standard says (9.2.6), but for `retry`, which is skipped. Comments are skipped. Thread safety: none.
class event_reader {
 public:
  explicit event_reader(std::size_t most_bytes) noexcept : most_{most_bytes} {}

  /// The next complete event of `chunk`, from which what was read is taken; nullopt: more bytes are wanted, or it failed.
  AGONES_ALLOC_DECL auto next(std::string_view& chunk) -> std::optional<server_sent_event>;
  /// An event was larger than the bound: nothing more can be read.
  auto failed() const noexcept -> bool { return failed_; }

 private:
  void take_line();

  std::size_t most_;
  std::string line_;
  std::string what_;
  std::string data_;
  std::string id_;
  bool has_data_{false};
  bool after_return_{false};
  bool failed_{false};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/fleets/event_reader.ipp>
#endif
