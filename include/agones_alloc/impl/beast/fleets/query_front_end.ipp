#pragma once

#include <agones_alloc/beast/cross_origin.hpp>
#include <agones_alloc/beast/detail/plain_answer.hpp>
#include <agones_alloc/beast/fleets/query_front_end.hpp>
#include <agones_alloc/beast/forwarded_request.hpp>
#include <agones_alloc/beast/namespace_name.hpp>
#include <agones_alloc/beast/outcome_answer.hpp>
#include <agones_alloc/beast/query_parameters.hpp>
#include <agones_alloc/beast/request_bounds.hpp>
#include <agones_alloc/json/detail/write_members.hpp>
#include <agones_alloc/json/parse.hpp>
#include <agones_alloc/json/read_allocation.hpp>
#include <agones_alloc/json/rest.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>

#include <cstdint>
#include <memory>
#include <variant>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline auto query_failure(int status, std::string_view message) -> http_response { return plain_failure(status, message, "query"); }

struct room_query {
  game_server_allocation wanted;
  std::size_t names{5};
};

inline auto read_room_body(std::string_view body, front_end_options const& options)
    -> std::variant<game_server_allocation, std::string> {
  json_parse_options parsing;
  parsing.max_bytes = body.size() + 1;  // the connection has bounded it
  parsing.empty_is_object = true;
  auto const value = parse_json(body, parsing);
  if (!value) return to_string(value.error());
  auto const* const object = value->if_object();
  if (object == nullptr) return std::string{"the body is no object"};
  json_read_options reading;
  reading.strict = options.strict;
  reading.refuse_unknown_fields = options.strict;
  bool const kubernetes = object->contains("spec") || object->contains("kind") || object->contains("apiVersion");
  auto read = kubernetes ? read_game_server_allocation(*value, reading)
                         : rest_request_to_allocation(*value, options.gates, reading);
  if (!read) return to_string(read.error());
  return std::move(*read);
}

inline auto read_room_query(http_request const& request, front_end_options const& options)
    -> std::variant<room_query, std::string> {
  query_parameters in{request.query};
  auto const ns = in.space();
  room_query out;
  if (auto const names = in.number("names", 0, 100)) out.names = static_cast<std::size_t>(*names);
  in.finish();
  if (!in.ok()) return in.problem();
  auto body = read_room_body(request.body, options);
  if (auto* const problem = std::get_if<std::string>(&body)) return std::move(*problem);
  out.wanted = std::move(*std::get_if<game_server_allocation>(&body));
  auto& given = out.wanted.meta.namespace_;
  if (ns && !given.empty() && given != *ns) return std::string{"namespace: the parameter and the body name different ones"};
  if (ns) given = *ns;
  if (given.empty()) given = options.default_namespace;
  if (given.empty()) return std::string{"namespace: must not be empty"};
  if (!is_namespace_name(given.view())) return "namespace: " + std::string{namespace_name_wanted};
  return out;
}

inline auto result_word(outcome result) noexcept -> std::string_view {
  return result == outcome::allocated ? "Available" : result == outcome::contention ? "Contention" : "UnAllocated";
}

inline auto room_answer(std::string const& cluster, std::string_view ns, outcome result, room_report const& room)
    -> http_response {
  auto out = json_response(200, wire::written([&](wire::writer& to) {
    to.open('{');
    to.key("clusterName");
    to.text(cluster);
    to.key("namespace");
    to.text(ns);
    to.key("result");
    to.text(result_word(result));
    wire::write_member(to, "fits", room.fits);
    to.key("exact");
    to.raw(room.exact ? "true" : "false");
    to.key("selectors");
    to.open('[');
    for (std::size_t i = 0; i != room.selectors.size(); ++i) {
      to.open('{');
      wire::write_member(to, "free", room.selectors[i].free);
      wire::write_member(to, "inFlight", room.selectors[i].in_flight);
      if (room.remaining != nullptr && i < room.remaining->selectors.size()) {
        to.key("clauses");
        to.open('[');
        for (auto const& clause : room.remaining->selectors[i]) {
          to.open('{');
          to.key("name");
          to.text(clause.name);
          wire::write_member(to, "remaining", clause.remaining);
          to.close('}');
        }
        to.close(']');
      }
      to.close('}');
    }
    to.close(']');
    to.key("gameServers");
    to.open('[');
    for (auto const& one : room.first) to.text(one->meta.name.view());
    to.close(']');
    to.close('}');
  }));
  out.headers.emplace_back("Cache-Control", "no-store");
  out.route = "query";
  return out;
}

}  // namespace detail

AGONES_ALLOC_DECL auto query_namespace_of(http_request const& request, front_end_options const& options)
    -> std::optional<std::string> {
  auto read = detail::read_room_query(request, options);
  if (auto const* const query = std::get_if<detail::room_query>(&read)) return query->wanted.meta.namespace_.str();
  return std::nullopt;
}

AGONES_ALLOC_DECL void query_front_end::handle(http_request const& request, reply done) {
  if (request.method != "POST") return std::move(done)(detail::method_refusal("Method Not Allowed", "POST", "query"));
  if (has_foreign_origin(request) && allowed_origin(request, options_.allowed_origins).empty()) return std::move(done)(detail::query_failure(403, "Origin: pages of other hosts must not ask"));
  auto read = detail::read_room_query(request, options_);
  if (auto const* const problem = std::get_if<std::string>(&read)) return std::move(done)(detail::query_failure(400, *problem));
  auto& query = *std::get_if<detail::room_query>(&read);
  auto const ns = query.wanted.meta.namespace_.str();
  auto const way = read_forwarded(request, ns, options_);
  if (auto const* const refusal = std::get_if<forward_refusal>(&way)) {
    return std::move(done)(detail::query_failure(refusal->status, refusal->message));
  }
  if (auto const errors = check_bounds(query.wanted.spec, options_); !errors.empty()) {
    return std::move(done)(detail::query_failure(422, to_string(errors)));
  }
  auto made = allocation_request::make(std::move(query.wanted), options_.gates, options_.choice);
  if (auto const* const errors = std::get_if<field_errors>(&made)) {
    return std::move(done)(detail::query_failure(422, to_string(*errors)));
  }
  allocate_options how;
  how.deadline = time_->now() + options_.request_time;
  how.room = std::make_shared<room_report>();
  how.room_names = query.names;
  auto const slot = boost::asio::get_associated_cancellation_slot(done);
  auto const executor = boost::asio::get_associated_executor(done);
  auto told = [done = std::move(done), room = how.room, ns, cluster = cluster_](error_code,
                                                                                allocation_result const& result) mutable {
    switch (result.result) {
      case outcome::allocated:
      case outcome::exhausted:
      case outcome::contention:
        // Refused because too much is asked at once: nothing was looked at.
        if (room->selectors.empty()) break;
        return std::move(done)(detail::room_answer(cluster, ns, result.result, *room));
      case outcome::invalid:
      case outcome::refused:
      case outcome::unavailable:
      case outcome::unknown:
      case outcome::cancelled:
      case outcome::deadline: break;
    }
    auto const busy = result.result == outcome::contention;
    auto out = detail::query_failure(busy ? 503 : failure_status(result),
                                     busy ? std::string{"too many requests at once"} : failure_message(result));
    add_outcome_fields(out, result);
    std::move(done)(std::move(out));
  };
  allocates_->async_decide(std::get<request_ptr>(std::move(made)), how,
                           boost::asio::bind_cancellation_slot(slot, boost::asio::bind_executor(executor, std::move(told))));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
