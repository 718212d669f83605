#include "bounds.hpp"
#include "replica_ports.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>

#include <algorithm>
#include <optional>

namespace simulation {

struct replica_store::call {
  std::vector<store::handler> done;  // one; none once it was answered or the process is gone
  object_key key;
  nanos since{0};
  bool sent{false};
  bool withdrawn{false};
};

auto replica_store::pending() const -> std::size_t {
  return static_cast<std::size_t>(std::count_if(calls_.begin(), calls_.end(), [](std::weak_ptr<call> const& one) {
    auto const c = one.lock();
    return c && !c->done.empty();
  }));
}

void replica_store::drop() {
  for (auto const& one : std::exchange(calls_, {})) {
    if (auto const c = one.lock()) std::exchange(c->done, {}).clear();
  }
}

auto replica_store::way() -> nanos { return world_.trouble(world_.sky.slow) ? world_.between(10ms, 900ms) : world_.between(200us, 8ms); }

auto replica_store::begin(store::handler done) -> call_ptr {
  auto const made = std::make_shared<call>();
  auto slot = boost::asio::get_associated_cancellation_slot(done);
  if (slot.is_connected()) {
    slot.assign([weak = std::weak_ptr<call>{made}](boost::asio::cancellation_type) {
      if (auto const c = weak.lock()) c->withdrawn = true;
    });
  }
  made->done.push_back(std::move(done));
  made->since = world_.now();
  std::erase_if(calls_, [](std::weak_ptr<call> const& one) { return one.expired(); });
  calls_.push_back(made);
  return made;
}

void replica_store::answer(call_ptr const& c, nanos way, error_code ec, game_server_ptr server) {
  world_.queue.in(way, [c, ec, server, h = hooks_, &w = world_] {
    if (c->done.empty()) return;
    auto done = std::move(c->done.back());
    c->done.clear();
    store_result result;
    result.server = as_seen(w, server);
    if (ec == errc::too_many_requests) result.retry_after = 50ms;
    if (ec == errc::refused) result.server_code = 403;
    std::move(done)(ec, std::move(result));
    h->delivered();
    if (w.broken == mutation::dropped_put_back && ec == errc::unavailable) h->not_written(c->key);
  });
}

void replica_store::send(call_ptr const& c, nanos there, std::function<std::pair<error_code, game_server_ptr>()> execute, bool writes) {
  auto const& sky = world_.sky;
  auto& w = world_;
  if (writes && w.broken == mutation::told_before_the_write && w.chance(0.3)) {
    auto promised = *api_.read(c->key.name.view());
    promised.meta.resource_version = std::to_string(api_.version() + 1);
    w.queue.in(there + 500ms, [execute] { execute(); });
    promised.status.state = game_server_state::allocated;
    return answer(c, there, {}, std::make_shared<game_server const>(std::move(promised)));
  }
  if (writes && w.broken == mutation::denied_writes && w.chance(0.2)) {
    w.queue.in(there, [execute] { execute(); });
    return answer(c, there + 1ms, errc::unavailable);
  }
  if (writes && w.broken == mutation::swallowed_answers && w.chance(0.1)) return w.queue.in(bounds::settling * 10, [c] { c->done.clear(); });
  if (writes && w.broken == mutation::dropped_put_back && w.chance(0.1)) return answer(c, there, errc::unavailable);
  if (w.trouble(sky.unavailable)) return answer(c, there, errc::unavailable);
  if (w.trouble(sky.throttled)) return answer(c, there, errc::too_many_requests);
  if (writes && w.trouble(sky.refused)) return answer(c, there, errc::refused);
  if (w.trouble(sky.lost_before)) return answer(c, there + way(), errc::outcome_unknown);
  if (w.trouble(sky.lost_after)) {
    w.queue.in(there, [execute] { execute(); });
    return answer(c, there + way(), errc::outcome_unknown);
  }
  if (w.trouble(sky.late)) {
    auto const arrives = w.between(there, bounds::network - 10ms);
    w.queue.in(arrives, [execute] { execute(); });
    return answer(c, w.between(there, arrives), errc::outcome_unknown);
  }
  w.queue.in(there, [this_api = &api_, c, execute, back = way(), h = hooks_, self = this] {
    auto const [ec, server] = execute();
    if (c->done.empty()) return;  // then `self` may be gone, too
    self->answer(c, back, ec, server);
    static_cast<void>(this_api);
  });
}

void replica_store::do_update(update_request request, store::handler done) {
  auto const c = begin(std::move(done));
  c->key = key_of(request.base->meta);
  // The same write sent again was decided when it was sent first.
  std::string const stamp{request.desired->meta.annotations.value_or_empty(keys::last_allocated_annotation)};
  auto const [first, fresh] = decided_.try_emplace(stamp, world_.now());
  auto const again = !fresh && stamp != request.base->meta.annotations.value_or_empty(keys::last_allocated_annotation);
  if (again) world_.count("repeated writes");
  hooks_->sending(request, again);
  origin const from{name_, true, first->second};
  auto execute = [&w = world_, &api = api_, request, from]() -> std::pair<error_code, game_server_ptr> {
    auto out = api.update(request, from);
    auto const& name = request.base->meta.name.str();
    w.say("api: " + from.who + " writes " + name + " at version " + request.base->meta.resource_version.str() + ": " +
          (out.first ? out.first.message() : "version " + out.second->meta.resource_version.str()));
    w.count(out.first == errc::conflict ? "conflicts" : out.first ? "writes to what is gone" : "writes");
    return out;
  };
  // Until it is sent, it can be withdrawn, and its time may be up.
  world_.queue.in(world_.between(0us, 800us), [self = this, c, execute, &w = world_, until = request.deadline] {
    if (c->done.empty()) return;
    if (until && *until <= self->hooks_->now()) {
      w.count("writes too late to be sent");
      return self->answer(c, 0ns, errc::unavailable);
    }
    if (c->withdrawn) {
      w.count("withdrawn writes");
      return self->answer(c, 0ns, errc::cancelled);
    }
    self->send(c, self->way(), execute, true);
  });
}

void replica_store::do_read(object_key key, store::handler done) {
  auto const c = begin(std::move(done));
  c->key = key;
  auto execute = [&api = api_, &w = world_, key, name = name_]() -> std::pair<error_code, game_server_ptr> {
    auto const server = api.read(key.name.view());
    w.say("api: " + name + " reads " + key.name.str());
    w.count("reads");
    if (server == nullptr) return {errc::not_found, nullptr};
    return {error_code{}, server};
  };
  send(c, way(), execute, false);
}

}  // namespace simulation
