#pragma once

#include <agones_alloc/beast/call_terms.hpp>
#include <agones_alloc/beast/claims_front_end.hpp>
#include <agones_alloc/beast/detail/claim_query.hpp>
#include <agones_alloc/beast/detail/claim_stream.hpp>
#include <agones_alloc/beast/detail/stream_places.hpp>
#include <agones_alloc/beast/detail/wanted_form.hpp>
#include <agones_alloc/beast/outcome_answer.hpp>
#include <agones_alloc/beast/query_string.hpp>
#include <agones_alloc/beast/request_bounds.hpp>
#include <agones_alloc/flow/pending.hpp>
#include <agones_alloc/select/apply.hpp>
#include <agones_alloc/select/claim.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL auto claims_namespace_of(http_request const& request, front_end_options const& options) -> std::string {
  auto out = options.default_namespace;
  for (auto& value : query_values(request.query, "namespace")) out = std::move(value);
  return out;
}

namespace detail {

inline void add_lines(boost::json::object& body, std::vector<std::string> const& lines) {
  if (lines.empty()) return;
  boost::json::array all;
  for (auto const& line : lines) all.emplace_back(line);
  body["notUndone"] = std::move(all);
}

/// Of an allocation whose server was not ready.
inline auto ended_answer(claim_query const& asked, gate_result const& end) -> http_response {
  boost::json::object body{{"id", asked.id}, {"namespace", asked.ns}};
  if (end.server != nullptr) {
    body["gameServerName"] = end.server->meta.name.str();
    body["state"] = std::string{to_string(end.server->status.state)};
  }
  body["ended"] = std::string{to_string(end.end)};
  add_lines(body, end.not_undone);
  auto out = json_response(200, boost::json::serialize(body));
  out.route = "claims";
  return out;
}

/// Of a confirmation: nothing was written, and nothing is wrong.
inline auto not_ready_yet(claim_query const& asked, allocation_result const& result, pending_marker const& marker) -> http_response {
  boost::json::object body{{"code", 409},
                           {"message", "the game server is not ready for players yet; when it is, the claim can be confirmed"},
                           {"id", asked.id},
                           {"namespace", asked.ns},
                           {"gameServerName", result.server->meta.name.view()},
                           {"state", to_string(result.server->status.state)},
                           {"pending", true},
                           {"deadline", rfc3339_nano(marker.deadline)}};
  auto out = json_response(409, boost::json::serialize(body));
  out.headers.emplace_back("Retry-After", "1");
  out.route = "claims";
  return out;
}

inline auto claim_answer(claim_query const& asked, error_code ec, allocation_result const& result, bool listed) -> http_response {
  if (ec == errc::not_found && !listed) {
    auto out = claim_failure(503, "the game servers have not been listed yet");
    out.headers.emplace_back("Retry-After", "1");
    return out;
  }
  if (ec == errc::not_found) return claim_failure(404, "namespace " + asked.ns + " has no claim with this id");
  if (asked.what == claim_verb::confirm && result.result == outcome::deadline) {
    if (auto const marker = result.server != nullptr ? find_pending(*result.server) : std::nullopt) return not_ready_yet(asked, result, *marker);
  }
  if (result.result == outcome::contention) {
    auto out = claim_failure(409, "the game server is being written to by others");
    add_outcome_fields(out, result);
    return out;
  }
  if (result.result != outcome::allocated) {
    auto out = claim_failure(result.result == outcome::invalid ? 400 : failure_status(result), failure_message(result));
    add_outcome_fields(out, result);
    return out;
  }
  auto const& server = *result.server;
  boost::json::object body{{"id", asked.id},
                           {"namespace", asked.ns},
                           {"gameServerName", server.meta.name.view()},
                           {"state", to_string(server.status.state)}};
  if (auto const marker = asked.what == claim_verb::look ? find_pending(server) : std::nullopt) {
    body["pending"] = true;
    body["deadline"] = rfc3339_nano(marker->deadline);
  } else if (asked.what != claim_verb::release) {
    auto const claim = find_claim(server, asked.id);
    body["confirmed"] = claim && !claim->expires;
    if (claim && claim->expires) body["expires"] = rfc3339_nano(*claim->expires);
  }
  add_lines(body, result.not_undone);
  auto out = json_response(200, boost::json::serialize(body));
  out.route = "claims";
  return out;
}

/// What GET says of it.
inline auto tell_claim(claim_query const& asked, error_code ec, allocation_result const& result, bool listed, readiness_gate const* gate)
    -> claim_told {
  if (ec == errc::not_found && gate != nullptr) {
    if (auto const end = gate->find_end(asked.ns, asked.id)) return {ended_answer(asked, *end), false};
  }
  bool const pending = !ec && result.server != nullptr && has_pending(*result.server);
  return {claim_answer(asked, ec, result, listed), pending};
}

}  // namespace detail

AGONES_ALLOC_DECL claims_front_end::claims_front_end(allocator& allocates, timer& time, front_end_options options, readiness_gate* gate,
                                                     fleets_options streams)
    : allocates_{&allocates},
      time_{&time},
      options_{std::move(options)},
      gate_{gate},
      streams_{checked(streams)},
      places_{std::make_shared<detail::stream_places>(streams.streams, streams.streams_per_caller)} {}

AGONES_ALLOC_DECL void claims_front_end::handle(http_request const& request, reply done) {
  if (!request.path.starts_with(prefix)) return std::move(done)(detail::claim_failure(404, "no such path"));
  if (has_foreign_origin(request)) return std::move(done)(detail::claim_failure(403, foreign_origin_message));
  auto read = detail::read_claim_query(request, request.path.substr(prefix.size()), options_);
  if (auto* const refusal = std::get_if<http_response>(&read)) return std::move(done)(std::move(*refusal));
  auto asked = std::get<detail::claim_query>(std::move(read));
  auto const read_terms = read_call_terms(request, {}, options_);
  if (auto const* problem = std::get_if<std::string>(&read_terms)) return std::move(done)(detail::claim_failure(400, *problem));
  auto const& terms = std::get<call_terms>(read_terms);
  bool const looks = asked.what == detail::claim_verb::look;
  if (looks && detail::form_of(request.header("Accept")) == detail::wanted_form::events) return stream(request, std::move(asked), std::move(done));
  allocate_options options;
  options.deadline = time_->now() + options_.request_time;
  auto const slot = boost::asio::get_associated_cancellation_slot(done);
  auto const executor = boost::asio::get_associated_executor(done);
  shared_string const ns{asked.ns};
  shared_string const id{asked.id};
  auto const what = asked.what;
  auto const to = asked.to;
  auto const listed = !options_.listed || options_.listed();
  auto const wait = terms.wait_for;
  bool const may_wait = looks ? wait.count() > 0 : what == detail::claim_verb::confirm && terms.wait_is_said;
  auto answered = boost::asio::bind_cancellation_slot(
      slot, boost::asio::bind_executor(executor, [done = std::move(done), asked = std::move(asked), listed, gate = looks ? gate_ : nullptr](
                                                     error_code ec, allocation_result const& result) mutable {
        std::move(done)(detail::tell_claim(asked, ec, result, listed, gate).answer);
      }));
  auto const perform = [this, what, to, ns, id](allocate_options const& how, auto answer) {
    switch (what) {
      case detail::claim_verb::look: return allocates_->async_find_claim(ns, id, how, std::move(answer));
      case detail::claim_verb::confirm: return allocates_->async_confirm(ns, id, how, std::move(answer));
      case detail::claim_verb::release: return allocates_->async_release(ns, id, to, how, std::move(answer));
    }
  };
  if (gate_ == nullptr || !may_wait || gate_->find(ns, id) == nullptr) return perform(options, std::move(answered));
  options.deadline = *options.deadline + wait;
  // Whatever came of the wait: then it is looked for, and confirmed unless it is pending still.
  auto waited = [this, looks, ns, id, options, perform, answered = std::move(answered)](error_code, gate_result const&) mutable {
    auto still = looks ? nullptr : gate_->find(ns, id);
    if (still == nullptr) return perform(options, std::move(answered));
    allocation_result result;
    result.result = outcome::deadline;
    result.server = std::move(still);
    std::move(answered)(errc::deadline_exceeded, result);
  };
  gate_->async_wait(ns, id, time_->now() + wait,
                    boost::asio::bind_cancellation_slot(slot, boost::asio::bind_executor(executor, std::move(waited))));
}

// Everything but a state is answered as ever, and is no stream.
inline void claims_front_end::stream(http_request const& request, detail::claim_query asked, reply done) {
  auto const slot = boost::asio::get_associated_cancellation_slot(done);
  detail::claim_stream_terms terms;
  terms.gate = gate_;
  terms.time = time_;
  terms.ns = shared_string{asked.ns};
  terms.id = shared_string{asked.id};
  terms.executor = boost::asio::get_associated_executor(done);
  terms.heartbeat = streams_.heartbeat;
  terms.until = time_->now() + streams_.stream_time;
  terms.place = places_->enter(request);  // null: too many are open, which is told of a claim only
  terms.look = [this, asked = std::move(asked), executor = terms.executor](boost::asio::cancellation_slot stop,
                                                                          std::function<void(detail::claim_told)> then) {
    allocate_options options;
    options.deadline = time_->now() + options_.request_time;
    auto const listed = !options_.listed || options_.listed();
    auto found = [asked, listed, gate = gate_, then = std::move(then)](error_code ec, allocation_result const& result) {
      then(detail::tell_claim(asked, ec, result, listed, gate));
    };
    allocates_->async_find_claim(shared_string{asked.ns}, shared_string{asked.id}, options,
                                 boost::asio::bind_cancellation_slot(stop, boost::asio::bind_executor(executor, std::move(found))));
  };
  auto const look = terms.look;
  auto const waiting = std::make_shared<reply>(std::move(done));
  look(slot, [waiting, terms = std::move(terms)](detail::claim_told told) mutable {
    if (told.answer.status != 200) return std::move(*waiting)(std::move(told.answer));
    if (terms.place == nullptr) {
      auto full = detail::claim_failure(503, "too many streams are open");
      full.headers.emplace_back("Retry-After", "5");
      return std::move(*waiting)(std::move(full));
    }
    http_response out;
    out.route = "claims stream";
    out.content_type = "text/event-stream";
    out.headers.emplace_back("Cache-Control", "no-store");
    out.headers.emplace_back("X-Accel-Buffering", "no");
    out.stream = std::make_shared<detail::claim_stream>(std::move(terms), std::move(told));
    std::move(*waiting)(std::move(out));
  });
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
