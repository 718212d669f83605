#pragma once

#include <agones_alloc/async/detail/gate_core.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// By what is asked; nullopt: the source has nothing to ask.
inline auto protocol_of(gate_source source) noexcept -> std::optional<probe_target::protocol> {
  switch (source) {
    case gate_source::http: return probe_target::protocol::http;
    case gate_source::tcp: return probe_target::protocol::tcp;
    case gate_source::sse: return probe_target::protocol::event_stream;
    case gate_source::grpc: return probe_target::protocol::grpc;
    case gate_source::watch:
    case gate_source::counter:
    case gate_source::webhook: break;
  }
  return std::nullopt;
}

/// With checks that are further apart most game servers have closed a kept connection before the next one.
inline constexpr std::chrono::seconds longest_kept{30};

AGONES_ALLOC_DECL auto gate_core::can(gate_source source) const noexcept -> bool {
  auto const how = protocol_of(source);
  return !how || (ports_.probe != nullptr && ports_.probe->can(*how));
}

/// Its own address, and the port of that name, or the first; nullopt: it has none, or nobody can ask.
inline auto gate_core::target_of(gate_entry const& entry) const -> std::optional<probe_target> {
  auto const& gate = entry.marker.gate;
  auto const& server = *entry.seen;
  auto const& ports = server.status.ports;
  auto const at = gate.port.empty() ? ports.begin()
                                    : std::find_if(ports.begin(), ports.end(), [&](auto const& port) { return port.name == gate.port; });
  if (at == ports.end() || at->port <= 0 || at->port > 65535 || server.status.address.empty()) return std::nullopt;
  auto const how = protocol_of(gate.source);
  if (!how || !can(gate.source)) return std::nullopt;
  probe_target out;
  out.how = *how;
  out.address = server.status.address.str();
  out.port = static_cast<std::uint16_t>(at->port);
  out.path = gate.path.str();
  if (*how == probe_target::protocol::event_stream) {
    out.until = entry.fsm.deadline();
    out.id = entry.marker.id;
  }
  // So that a connection may be kept for the next check of this very server, and this very wait.
  auto const every = entry.fsm.is_mine() ? gate.period : 4 * gate.period;
  if (*how == probe_target::protocol::http && every <= longest_kept) {
    out.until = std::min(entry.fsm.deadline(), now_ + gate.try_timeout + 2 * every);
    out.id = server.meta.uid.str() + '/' + entry.marker.id;
  }
  return out;
}

// As many at once as are allowed, the others in turn. The time of a try begins when it begins.
inline void gate_core::probe(entry_ptr const& entry) {
  auto target = target_of(*entry);
  if (!target) return entry->fsm.probed(probe_answer::pending, now_);
  auto& from = target->how == probe_target::protocol::event_stream ? streams_ : tries_;
  if (from.enter(target->address, entry)) ask(from, entry, *std::move(target));
}

inline void gate_core::ask(slots& from, entry_ptr const& entry, probe_target target) {
  auto const host = target.address;
  bool const stream = &from == &streams_;
  target.deadline = now_ + entry->marker.gate.try_timeout;
  auto done = [self = shared_from_this(), &from, entry, host](error_code ec, probe_answer answer) {
    if (ec) answer = probe_answer::pending;
    self->push([core = self.get(), &from, entry, host, answer] { core->probed(from, entry, host, answer); });
  };
  try {
    if (stream) {
      ports_.probe->async_probe(std::move(target), boost::asio::bind_cancellation_slot(entry->leave_stream.slot(), std::move(done)));
    } else {
      ports_.probe->async_probe(std::move(target), std::move(done));
    }
  } catch (std::exception const&) {
    push([this, &from, entry, host] { probed(from, entry, host, probe_answer::pending); });
  }
}

inline void gate_core::probed(slots& from, entry_ptr const& entry, std::string const& host, probe_answer answer) {
  from.leave(host);
  if (stopped_) return;
  if (!entry->over) {
    entry->fsm.probed(answer, now_);
    step(entry);
  }
  start_waiting(from);
}

inline void gate_core::start_waiting(slots& from) {
  while (auto next = from.next()) {
    auto const& entry = next->entry;
    auto target = entry->over ? std::nullopt : target_of(*entry);
    if (target && target->address == next->host) {
      ask(from, entry, *std::move(target));
      continue;
    }
    from.leave(next->host);
    if (entry->over) continue;
    entry->fsm.probed(probe_answer::pending, now_);
    step(entry);
  }
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
