#pragma once

#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/async/detail/allocation_engine.hpp>
#include <agones_alloc/async/detail/gated_call.hpp>
#include <agones_alloc/async/readiness_gate.hpp>

#include <memory>
#include <stdexcept>
#include <variant>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL auto error_of(outcome value) noexcept -> error_code {
  switch (value) {
    case outcome::allocated: return {};
    case outcome::exhausted: return errc::exhausted;
    case outcome::contention: return errc::contention;
    case outcome::invalid: return errc::invalid_request;
    case outcome::refused: return errc::refused;
    case outcome::unavailable: return errc::unavailable;
    case outcome::unknown: return errc::outcome_unknown;
    case outcome::cancelled: return errc::cancelled;
    case outcome::deadline: return errc::deadline_exceeded;
  }
  return errc::outcome_unknown;
}

AGONES_ALLOC_DECL allocator::allocator(boost::asio::any_io_executor executor, ready_cache& cache, store& writes,
                                       timer& time, random_source& random, allocator_options options,
                                       allocator_ports ports)
    : executor_{std::move(executor)} {
  if (!executor_) throw std::invalid_argument{"allocator: executor: must not be empty"};
  check(options);
  engine_ = std::make_shared<detail::allocation_engine>(executor_, cache, writes, time, random, std::move(options), ports);
  engine_->listen();
}

AGONES_ALLOC_DECL allocator::~allocator() { engine_->close(); }

AGONES_ALLOC_DECL auto allocator::outstanding() const noexcept -> std::size_t { return engine_->outstanding(); }

namespace detail {

/// What is wrong with what the call says about the gate.
inline auto gate_problems(allocator_ports const& ports, gate_request const& said) -> field_errors {
  field_errors out;
  if (ports.gate == nullptr && said.text.empty()) return out;  // pending is nothing here
  if (ports.gate == nullptr) {
    out.push_back({field_error_type::forbidden, "options.gate", {}, "this allocator has no readiness gate"});
    return out;
  }
  gate_settings asked;
  change_gate(asked, said.text, "options.gate", out);
  if (!ports.gate->core()->can(asked.source)) {
    out.push_back({field_error_type::not_supported, "options.gate.source", go_quoted(to_string(asked.source)), std::string{cannot_ask_text}});
  }
  return out;
}

/// An allocation where there may be a gate: one write, or two and what lies between them. Most calls say nothing about it: nothing is
/// made for them here.
inline void start_gated(std::shared_ptr<allocation_engine> const& engine, request_ptr&& request, allocate_options const& call,
                        allocator::handler&& done) {
  if (call.gate) {
    if (auto problems = gate_problems(engine->ports(), *call.gate); !problems.empty()) {
      allocation_result refused;
      refused.result = outcome::invalid;
      refused.errors = std::move(problems);
      return engine->reject(std::move(done), std::move(refused));
    }
  }
  auto const* const gate = engine->ports().gate;
  if (gate != nullptr && gate->core()->is_full()) {
    allocation_result refused;
    refused.result = outcome::contention;
    refused.retry_after = engine->options().overload_retry_after;
    return engine->reject(std::move(done), std::move(refused));
  }
  engine->submit(std::move(request), call, false, std::move(done), gate != nullptr);
}

}  // namespace detail

AGONES_ALLOC_DECL void allocator::start(request_ptr request, allocate_options const& call, bool dry_run, handler done) {
  if (request != nullptr) {
    bool const gated = engine_->ports().gate != nullptr || call.gate != nullptr;
    if (gated && !dry_run) return detail::start_gated(engine_, std::move(request), call, std::move(done));
    return engine_->submit(std::move(request), call, dry_run, std::move(done));
  }
  allocation_result refused;
  refused.result = outcome::invalid;
  refused.errors.push_back({field_error_type::required, "request", "", "a compiled request is needed"});
  engine_->reject(std::move(done), std::move(refused));
}

AGONES_ALLOC_DECL void allocator::start_claim(detail::claim_purpose what, release_to to, shared_string ns, shared_string id,
                                              allocate_options const& call, handler done) {
  if (auto* const gate = engine_->ports().gate; gate != nullptr && what != detail::claim_purpose::find && !gate->core()->is_full()) {
    return std::make_shared<detail::gated_call>(engine_, gate->core(), call, std::move(done))->on_claim(what, to, std::move(ns), std::move(id));
  }
  auto part = std::make_unique<detail::claim_part>();
  part->what = what;
  part->to = to;
  part->identify(std::move(ns), std::move(id));
  engine_->submit(std::move(part), call, std::move(done));
}

AGONES_ALLOC_DECL void allocator::start(game_server_allocation allocation, std::optional<choice_options> choice,
                                        allocate_options const& call, handler done) {
  auto const& options = engine_->options();
  auto made = allocation_request::make(std::move(allocation), options.gates,
                                       choice ? *std::move(choice) : options.choice);
  if (auto* const request = std::get_if<request_ptr>(&made)) return start(std::move(*request), call, false, std::move(done));
  allocation_result refused;
  refused.result = outcome::invalid;
  refused.errors = std::get<field_errors>(std::move(made));
  engine_->reject(std::move(done), std::move(refused));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
