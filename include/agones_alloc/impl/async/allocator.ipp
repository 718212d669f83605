#pragma once

#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/async/detail/allocation_engine.hpp>

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

AGONES_ALLOC_DECL void allocator::start(request_ptr request, allocate_options const& call, bool dry_run, handler done) {
  if (request != nullptr) return engine_->submit(std::move(request), call, dry_run, std::move(done));
  allocation_result refused;
  refused.result = outcome::invalid;
  refused.errors.push_back({field_error_type::required, "request", "", "a compiled request is needed"});
  engine_->reject(std::move(done), std::move(refused));
}

AGONES_ALLOC_DECL void allocator::start_claim(detail::claim_purpose what, release_to to, shared_string ns, shared_string id,
                                              allocate_options const& call, handler done) {
  auto part = std::make_unique<detail::claim_part>();
  part->what = what;
  part->to = to;
  part->ns = std::move(ns);
  part->id = std::move(id);
  engine_->submit(std::move(part), call, std::move(done));
}

AGONES_ALLOC_DECL void allocator::start(game_server_allocation allocation, std::optional<choice_options> choice,
                                        allocate_options const& call, handler done) {
  auto const& options = engine_->options();
  auto made = allocation_request::make(std::move(allocation), options.gates,
                                       choice ? *std::move(choice) : options.choice);
  if (auto* const request = std::get_if<request_ptr>(&made)) {
    return engine_->submit(std::move(*request), call, false, std::move(done));
  }
  allocation_result refused;
  refused.result = outcome::invalid;
  refused.errors = std::get<field_errors>(std::move(made));
  engine_->reject(std::move(done), std::move(refused));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
