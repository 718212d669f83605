#pragma once

#include <agones_alloc/async/detail/gate_core.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Its own address, and the port of that name, or the first; nullopt: it has none.
inline auto probe_target_of(game_server const& server, gate_settings const& gate) -> std::optional<probe_target> {
  auto const& ports = server.status.ports;
  auto const at = gate.port.empty() ? ports.begin()
                                    : std::find_if(ports.begin(), ports.end(), [&](auto const& port) { return port.name == gate.port; });
  if (at == ports.end() || at->port <= 0 || at->port > 65535 || server.status.address.empty()) return std::nullopt;
  probe_target out;
  out.how = gate.source == gate_source::http ? probe_target::protocol::http : probe_target::protocol::tcp;
  out.address = server.status.address.str();
  out.port = static_cast<std::uint16_t>(at->port);
  out.path = gate.path.str();
  return out;
}

// As many at once as are allowed, the others in order. The time of a try begins when it begins.
inline void gate_core::probe(entry_ptr const& entry) {
  if (!start_probe(entry)) waiting_probes_.push_back(entry);
}

inline auto gate_core::start_probe(entry_ptr const& entry) -> bool {
  auto target = probe_target_of(*entry->seen, entry->marker.gate);
  if (!target || ports_.probe == nullptr) {
    entry->fsm.probed(probe_answer::pending, now_);
    return true;
  }
  auto& of_host = probes_by_host_[target->address];
  if (probes_ >= options_.max_probes || of_host >= options_.max_probes_per_host) return false;
  ++of_host;
  ++probes_;
  auto const host = target->address;
  target->deadline = now_ + entry->marker.gate.try_timeout;
  try {
    ports_.probe->async_probe(*std::move(target), [self = shared_from_this(), entry, host](error_code ec, probe_answer answer) {
      if (ec) answer = probe_answer::pending;
      self->push([core = self.get(), entry, host, answer] { core->probed(entry, host, answer); });
    });
  } catch (std::exception const&) {
    push([this, entry, host] { probed(entry, host, probe_answer::pending); });
  }
  return true;
}

inline void gate_core::probed(entry_ptr const& entry, std::string const& host, probe_answer answer) {
  --probes_;
  if (auto const at = probes_by_host_.find(host); at != probes_by_host_.end() && --at->second == 0) probes_by_host_.erase(at);
  if (stopped_) return;
  if (!entry->over) {
    entry->fsm.probed(answer, now_);
    step(entry);
  }
  start_waiting_probes();
}

inline void gate_core::start_waiting_probes() {
  // One of a busy host must not hold up those of others; but not the whole queue is looked through.
  constexpr std::size_t most = 64;
  for (std::size_t i = 0; i < std::min(most, waiting_probes_.size());) {
    auto const entry = waiting_probes_[i];
    if (entry->over || start_probe(entry)) {
      waiting_probes_.erase(waiting_probes_.begin() + static_cast<std::ptrdiff_t>(i));
      step(entry);
    } else if (probes_ >= options_.max_probes) {
      return;
    } else {
      ++i;
    }
  }
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
