#pragma once

#include <agones_alloc/grpc/allocation_front_end.hpp>
#include <agones_alloc/grpc/failure_details.hpp>
#include <agones_alloc/grpc/messages.hpp>

#include <agones_alloc_proto/allocation.pb.h>

#include <limits>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

template <class Message>
auto parse_message(std::string_view bytes, Message& out) -> bool {
  return bytes.size() <= static_cast<std::size_t>(std::numeric_limits<int>::max()) &&
         out.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

inline auto read_message_body(std::string_view body, front_end_options const& options)
    -> std::variant<game_server_allocation, std::string> {
  ::allocation::AllocationRequest message;
  if (!parse_message(body, message)) return std::string{"the message is no allocation.AllocationRequest"};
  if (options.strict) {
    auto const known = [](int number) { return number == 0 || number == 1; };
    if (!known(message.scheduling())) return std::string{"scheduling: unknown enum number"};
    for (auto const& one : message.gameserverselectors()) {
      if (!known(one.gameserverstate())) return std::string{"gameServerSelectors: gameServerState: unknown enum number"};
    }
    for (auto const& one : message.priorities()) {
      if (!known(one.type()) || !known(one.order())) return std::string{"priorities: unknown enum number"};
    }
  }
  auto gsa = message_to_allocation(message, options.gates);
  if (gsa.meta.namespace_.empty()) {
    if (options.strict && options.default_namespace.empty()) return std::string{"namespace: must not be empty"};
    gsa.meta.namespace_ = options.default_namespace;
  }
  return gsa;
}

inline auto write_message_answer(service_answer const& answer) -> http_response {
  http_response out;
  if (answer.code == grpc_code::ok && answer.result) {
    out.body = result_to_message(*answer.result, answer.request->gates());
    out.content_type = "application/grpc";
    out.route = "grpc";
  } else {
    out = grpc_failure(answer.code, answer.message);
    if (auto details = failure_details(answer); !details.empty()) {
      out.headers.emplace_back(grpc_details_field, std::move(details));
    }
  }
  add_service_fields(out, answer);
  return out;
}

/// In Agones' words, and with its code for a write that was refused (spec 8.9).
inline auto write_compatible_answer(service_answer const& answer) -> http_response {
  auto const what = answer.result ? answer.result->result : outcome::allocated;
  bool const refused = what == outcome::refused && !answer.result->multi_cluster;
  if (!refused && what != outcome::deadline) return write_message_answer(answer);
  auto told = answer;
  if (refused) told.code = grpc_code::unknown;
  told.message = refused ? "could not update the selected GameServer" : "remote allocation total timeout exceeded";
  return write_message_answer(told);
}

inline auto message_wire(front_end_options const& options) -> service_wire {
  return {read_message_body, options.compatible ? write_compatible_answer : write_message_answer};
}

}  // namespace detail

AGONES_ALLOC_DECL auto grpc_failure(grpc_code code, std::string message) -> http_response {
  http_response out;
  out.status = http_status_of(code);
  out.route = "grpc";
  out.headers.emplace_back(grpc_status_field, std::to_string(static_cast<int>(code)));
  out.headers.emplace_back(grpc_message_field, std::move(message));
  return out;
}

AGONES_ALLOC_DECL allocation_front_end::allocation_front_end(allocation_backend& backend, timer& time, front_end_options options)
    : service_{backend, time, options, detail::message_wire(options)} {}

AGONES_ALLOC_DECL void allocation_front_end::handle(http_request const& request, reply done) {
  if (request.path != path) return std::move(done)(grpc_failure(grpc_code::unimplemented, "unknown method"));
  service_.allocate(request, std::move(done));
}

AGONES_ALLOC_DECL auto allocation_namespace_of(http_request const& request, front_end_options const& options)
    -> std::optional<std::string> {
  if (request.path != allocation_front_end::path) return std::nullopt;
  auto const body = detail::read_message_body(request.body, options);
  if (std::holds_alternative<std::string>(body)) return std::nullopt;
  return std::get<game_server_allocation>(body).meta.namespace_.str();
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
