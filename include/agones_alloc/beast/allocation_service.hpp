// The allocator service (spec 8.7 to 8.10) as its doors share it: REST and gRPC differ in how messages are written only.
#pragma once

#include <agones_alloc/beast/allocation_backend.hpp>
#include <agones_alloc/beast/front_end_options.hpp>
#include <agones_alloc/beast/http_handler.hpp>
#include <agones_alloc/beast/request_cache.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/json/grpc_code.hpp>
#include <agones_alloc/model/allocation.hpp>
#include <agones_alloc/model/field_error.hpp>
#include <agones_alloc/model/outcome.hpp>
#include <agones_alloc/port/timer.hpp>
#include <agones_alloc/select/request.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// What one call came to, before it is written.
struct service_answer {
  grpc_code code{grpc_code::ok};
  int http_status{200};
  std::string message{};      ///< "" for success
  field_errors errors{};      ///< each field that is wrong
  request_ptr request{};      ///< null: it was refused before the allocator was asked
  std::optional<allocation_result> result{};  ///< what the allocator said, if it was asked
  std::chrono::nanoseconds waited_for{0};     ///< the client asked to wait so long

  static auto refusal(grpc_code code, std::string message) -> service_answer {
    return {code, http_status_of(code), std::move(message)};
  }
};

/// The one table of outcomes and codes (spec 8.9): exhausted is `unallocated`, contention Aborted, invalid InvalidArgument,
/// refused the nearest to the store's HTTP code, unavailable Unavailable, unknown and deadline DeadlineExceeded, cancelled
/// Canceled.
AGONES_ALLOC_DECL auto service_code_of(allocation_result const&, grpc_code unallocated) noexcept -> grpc_code;

/// Adds the fields that an answer to a call carries: the breakdown, when to come again, the claim.
AGONES_ALLOC_DECL void add_service_fields(http_response&, service_answer const&);

/// How one door reads requests and writes answers.
struct service_wire {
  /// The body as a request to allocate, or a sentence with the field.
  std::variant<game_server_allocation, std::string> (*read)(std::string_view body, front_end_options const&);
  http_response (*write)(service_answer const&);
  bool tells_pending{false};  ///< it can say that a server is pending; else `Prefer: respond-async` is not heeded
};

/// Reads a call, asks the backend, writes the answer. Metadata are the request's fields. `dryRun=All` decides without handing
/// out; a `Grpc-Timeout` field shortens the time.
///
/// Thread safety: confined to the listener's executor. Backend and timer must outlive it and its requests.
class allocation_service {
 public:
  AGONES_ALLOC_DECL allocation_service(allocation_backend&, timer&, front_end_options, service_wire);
  AGONES_ALLOC_DECL void allocate(http_request const&, http_handler::reply);
  auto options() const noexcept -> front_end_options const& { return options_; }

 private:
  /// The compiled request, or the answer that refuses the body.
  AGONES_ALLOC_DECL auto compile(std::string_view body, bool exact) -> std::variant<request_ptr, service_answer>;

  allocation_backend* backend_;
  timer* time_;
  front_end_options options_;
  service_wire wire_;
  grpc_code unallocated_;
  request_cache compiled_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/allocation_service.ipp>
#endif
