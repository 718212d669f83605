// `/v1/fleets` and `/v1/gameservers`: what there is, asked for or watched.
#pragma once

#include <agones_alloc/async/fleet_directory.hpp>
#include <agones_alloc/beast/fleets/fleets_options.hpp>
#include <agones_alloc/beast/front_end_options.hpp>
#include <agones_alloc/beast/http_handler.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/timer.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {
class fleet_streams;
}
class server_sent_form;

/// `GET /v1/fleets`: a page of fleets as JSON with a weak ETag (304 for If-None-Match); with `Accept: text/event-stream`
/// the same as server-sent events, from the state on or from `Last-Event-ID`. `GET /v1/gameservers`: those of a namespace,
/// or of one fleet. docs/fleets.md has parameters, shapes and events.
///
/// 400 names the parameter that is wrong; 403: a namespace where the caller may not allocate (without a namespace, those
/// are left out); 405, 406, 503 with Retry-After, 508. Only reads.
///
/// Directory and timer must outlive it, and what it was asked. Thread safety: confined to the listener's executor, which
/// has to be the directory's.
class fleets_front_end final : public http_handler {
 public:
  static constexpr std::string_view fleets_path = "/v1/fleets";
  static constexpr std::string_view servers_path = "/v1/gameservers";

  /// Throws std::invalid_argument for options out of range.
  AGONES_ALLOC_DECL fleets_front_end(fleet_directory&, timer&, front_end_options, fleets_options = {});
  AGONES_ALLOC_DECL ~fleets_front_end() override;
  AGONES_ALLOC_DECL void handle(http_request const&, reply) override;

  AGONES_ALLOC_DECL auto counts() const noexcept -> fleet_stream_counts;

 private:
  AGONES_ALLOC_DECL auto fleets(http_request const&) -> http_response;
  AGONES_ALLOC_DECL auto servers(http_request const&) const -> http_response;

  fleet_directory* directory_;
  front_end_options options_;
  std::shared_ptr<server_sent_form> form_;
  std::shared_ptr<detail::fleet_streams> streams_;
  std::string last_key_;   ///< what names the last page that was told; "": it was told to one caller only
  std::string last_body_;  ///< that page, where it was asked for again
  std::size_t last_size_{0};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/fleets/fleets_front_end.ipp>
#endif
