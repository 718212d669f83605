// How many streams may be open.
#pragma once

#include <agones_alloc/beast/http_message.hpp>
#include <agones_alloc/config.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <string>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// So many at once, and so many of one who has shown who they are. Thread safety: none.
class stream_places : public std::enable_shared_from_this<stream_places> {
 public:
  stream_places(std::size_t most, std::size_t most_of_caller) noexcept : most_{most}, most_of_caller_{most_of_caller} {}

  /// To be kept for as long as the stream is open; null: there is no room.
  auto enter(http_request const& request) -> std::shared_ptr<void> {
    bool const known = request.caller != nullptr && request.caller->source != identity_source::anonymous;
    auto caller = known ? request.caller->user : std::string{};
    auto const at = by_caller_.find(caller);
    if (open_ >= most_ || (at != by_caller_.end() && at->second >= most_of_caller_)) return nullptr;
    ++open_;
    if (!caller.empty()) ++by_caller_[caller];
    return {this, [self = shared_from_this(), caller](stream_places*) { self->leave(caller); }};
  }

 private:
  void leave(std::string const& caller) {
    --open_;
    if (auto const at = by_caller_.find(caller); at != by_caller_.end() && --at->second == 0) by_caller_.erase(at);
  }

  std::size_t most_;
  std::size_t most_of_caller_;
  std::size_t open_{0};
  std::map<std::string, std::size_t> by_caller_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
