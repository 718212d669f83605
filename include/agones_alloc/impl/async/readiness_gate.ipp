#pragma once

#include <agones_alloc/async/detail/gate_core.hpp>
#include <agones_alloc/async/readiness_gate.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>

#include <atomic>
#include <stdexcept>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL readiness_gate::readiness_gate(boost::asio::any_io_executor executor, ready_cache& cache, store& writes,
                                                 timer& time, random_source& random, gate_options options, gate_ports ports) {
  if (!executor) throw std::invalid_argument{"readiness_gate: executor: must not be empty"};
  check(options);
  auto const otherwise = options.otherwise;
  core_ = std::make_shared<detail::gate_core>(std::move(executor), cache, writes, time, random, std::move(options), ports);
  if (otherwise.enabled && !core_->can(otherwise.source)) {
    throw std::invalid_argument{"gate_options.otherwise.source: " + std::string{to_string(otherwise.source)} + ": " +
                                std::string{detail::cannot_ask_text}};
  }
}

AGONES_ALLOC_DECL readiness_gate::~readiness_gate() { core_->stop(); }

AGONES_ALLOC_DECL void readiness_gate::stop() { core_->stop(); }
AGONES_ALLOC_DECL void readiness_gate::stored(game_server_ptr const& server) { core_->stored(server); }
AGONES_ALLOC_DECL void readiness_gate::erased(object_key const& key, std::string_view uid) { core_->erased(key, uid); }
AGONES_ALLOC_DECL void readiness_gate::replaced(std::span<game_server_ptr const> servers, std::string_view version) {
  core_->replaced(servers, version);
}
AGONES_ALLOC_DECL void readiness_gate::lost(error_code why) {
  if (auto* const next = core_->ports().observer; next != nullptr) next->lost(why);
}
AGONES_ALLOC_DECL void readiness_gate::regained() {
  if (auto* const next = core_->ports().observer; next != nullptr) next->regained();
}
AGONES_ALLOC_DECL auto readiness_gate::find(std::string_view ns, std::string_view id) const -> game_server_ptr {
  return core_->find(ns, id);
}
AGONES_ALLOC_DECL auto readiness_gate::find_end(std::string_view ns, std::string_view id) const
    -> std::shared_ptr<gate_result const> {
  return core_->find_end(ns, id);
}
AGONES_ALLOC_DECL auto readiness_gate::call(std::string_view token, bool ready) -> bool { return core_->call(token, ready); }
AGONES_ALLOC_DECL auto readiness_gate::pending() const -> std::size_t { return core_->pending(); }

AGONES_ALLOC_DECL void readiness_gate::wait(shared_string ns, shared_string id, timer::time_point deadline, handler done) {
  auto slot = boost::asio::get_associated_cancellation_slot(done);
  auto const number = std::make_shared<std::atomic<std::uint64_t>>(0);
  if (slot.is_connected()) {
    slot.assign([weak = std::weak_ptr{core_}, number](boost::asio::cancellation_type type) {
      auto const core = weak.lock();
      if (type != boost::asio::cancellation_type::none && core) core->leave(number->load(), false);
    });
  }
  number->store(core_->wait(ns.view(), id.view(), {}, {}, deadline, false, std::move(done)));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
