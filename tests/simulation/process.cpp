#include "bounds.hpp"
#include "replica.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>

#include <algorithm>
#include <utility>

namespace simulation {

namespace {

auto quick_retries(readiness_gate* gate) -> reflector_options {
  reflector_options out;
  out.retry = backoff_options::endless(20ms, 500ms);
  out.observer = gate;
  return out;
}

auto gate_options_of(world const& w, replica_settings const& settings, std::string const& name) -> gate_options {
  gate_options out;
  if (w.broken != mutation::gate_open) out.otherwise = *w.gate;
  out.owner = settings.owner.empty() ? name : settings.owner;
  out.limits.takeover = 500ms;
  if (w.broken == mutation::gate_endless) {
    out.owner = name;
    out.limits.takeover = 1h;
  }
  out.limits.retry = backoff_options::endless(10ms, 500ms);
  return out;
}

}  // namespace

process::process(world& w, api_server& api, oracle& o, std::string name, replica_settings const& settings)
    : world_{w}, api_{api}, oracle_{o}, name_{std::move(name)}, begun_{w.now()},
      clock_{context_.get_executor(), timer::time_point{1h},
             timer::wall_time{1'600'000'000s} + w.now() + settings.wall_offset},
      random_{w.random.next()},
      store_{w, api, name_, {[this](update_request const& r, bool again) { sending(r, again); }, [this] { wake(); },
                             [this](object_key const& key) { world_.queue.in(1ms, [weak = weak_from_this(), key] {
                               auto const self = weak.lock();
                               if (self && !self->dead_) self->cache_.claim(self->cache_.lookup(key).handle);
                             }); },
                             [this] { return clock_.now(); }}},
      feed_{w, api, [this] { wake(); }},
      gate_{w.gate ? std::make_unique<readiness_gate>(context_.get_executor(), cache_, store_, clock_, random_,
                                                      gate_options_of(w, settings, name_))
                   : nullptr},
      reflector_{std::make_unique<reflector>(context_.get_executor(), feed_, cache_, clock_, random_,
                                             quick_retries(w.broken == mutation::gate_deaf ? nullptr : gate_.get()))},
      allocator_{std::make_unique<allocator>(context_.get_executor(), cache_, store_, clock_, random_, settings.options,
                                             allocator_ports{nullptr, nullptr, nullptr, gate_.get(), gate_.get()})},
      in_order_{settings.in_order}, sheds_{settings.options.max_operations < 100}, followed_{w.now()} {}

process::~process() { kill(); }

void process::start() {
  world_.say(name_ + " starts");
  reflector_->start();
  wake();
}

void process::wake() {
  if (awake_ || dead_) return;
  awake_ = true;
  auto const wait = world_.trouble(world_.sky.pause) ? world_.between(1ms, bounds::pause) : world_.between(1us, 40us);
  world_.queue.in(wait, [weak = weak_from_this()] {
    if (auto const self = weak.lock()) self->turn();
  });
}

void process::follow_clock() {
  auto const passed = world_.now() - followed_;
  followed_ = world_.now();
  if (passed.count() > 0) clock_.advance(passed);
}

void process::turn() {
  awake_ = false;
  if (dead_) return;
  follow_clock();
  context_.restart();
  auto const ran = context_.poll_one();
  for (auto const& [younger, older] : std::exchange(suspects_, {})) {
    if (!older->ended) world_.fail(name_ + " chose a server for " + younger->who->id + ", and passed over " + older->who->id + ", who came first");
  }
  if (ran != 0) return wake();
  rest();
}

// Nothing is ready to run.
void process::rest() {
  for (auto const& c : calls_) {
    if (c->deadline < clock_.now()) world_.fail(name_ + " has not ended the call of " + c->who->id + " at its deadline");
  }
  auto const next = clock_.next();
  if (!next) return;
  if (*next <= clock_.now()) return wake();
  if (std::exchange(armed_, *next) == *next) return;
  world_.queue.in(*next - clock_.now(), [weak = weak_from_this()] {
    if (auto const self = weak.lock()) self->wake();
  });
}

void process::begin(call_ptr c) {
  follow_clock();
  c->number = ++arrivals_;
  c->deadline = clock_.now() + c->options.timeout.value();
  c->waits_until = std::min(c->deadline, clock_.now() + c->options.wait_for);
  if (world_.broken == mutation::no_deadline) c->options.timeout = 1h;
  calls_.push_back(c);
  oracle_.begun(*c->who);
  auto done = boost::asio::bind_cancellation_slot(c->stop.slot(), [weak = weak_from_this(), c](error_code ec, allocation_result r) {
    if (auto const self = weak.lock()) self->end(c, ec, std::move(r));
  });
  auto const& id = c->who->id;
  auto hand_over = [this, c, id, d = std::move(done)]() mutable {
    switch (c->what) {
      case wish::allocate: allocator_->async_allocate(c->request, c->options, std::move(d)); break;
      case wish::confirm: allocator_->async_confirm("default", id, c->options, std::move(d)); break;
      case wish::release: allocator_->async_release("default", id, c->to, c->options, std::move(d)); break;
    }
  };
  auto const turned_away = world_.broken == mutation::skipped_waiter && c->what == wish::allocate && *c->options.timeout > 300ms;
  if (turned_away && world_.chance(0.3)) {
    // It came, but is let in later; for all that, it ends in time.
    constexpr auto delay = 100ms;
    *c->options.timeout -= delay;
    c->options.wait_for = std::max(c->options.wait_for - delay, nanos{0});
    auto late = std::make_shared<decltype(hand_over)>(std::move(hand_over));
    world_.queue.in(delay, [weak = weak_from_this(), late, c] {
      auto const self = weak.lock();
      if (!self || self->dead_) return;
      self->follow_clock();
      if (self->closed_) {
        allocation_result closed;
        closed.result = outcome::cancelled;
        return self->end(c, errc::cancelled, std::move(closed));
      }
      (*late)();
      self->wake();
    });
    return;
  }
  hand_over();
  wake();
}

void process::cancel(call_ptr const& c) {
  if (dead_ || c->ended) return;
  follow_clock();
  c->cancelled = true;
  c->stop.emit(boost::asio::cancellation_type::terminal);
  wake();
}

void process::end(call_ptr const& c, error_code ec, allocation_result result) {
  if (dead_) return;
  if (std::exchange(c->ended, true)) return world_.fail(name_ + " answered a call of " + c->who->id + " twice");
  calls_.remove(c);
  world_.say(name_ + " answers " + c->who->id + ": " + std::string{to_string(result.result)} +
             (result.server ? " " + result.server->meta.name.str() : std::string{}) + (result.repeated ? " (again)" : ""));
  world_.count("answers: " + std::string{to_string(result.result)});
  if (result.result == outcome::allocated && result.repeated) world_.count("repeated answers");
  if (result.result == outcome::contention && sheds_ && result.retry_after == bounds::advice) world_.count("turned away");
  if (c->what == wish::allocate && c->options.wait_for.count() > 0 && result.result == outcome::allocated &&
      clock_.now() > c->waits_until - c->options.wait_for + 100ms && chosen_.contains(c->who->id)) {
    world_.count("servers for those who waited");
  }
  oracle_.ended(*c->who, c->what == wish::allocate, result.result);
  c->done({true, true, ec, std::move(result)});
}

// Calls that choose the same server share a write: each has a claim in it.
auto process::calls_of(update_request const& request) const -> std::vector<call_ptr> {
  std::vector<call_ptr> out;
  auto const add = [&](auto fits) {
    auto const at = std::find_if(calls_.begin(), calls_.end(), [&](call_ptr const& c) { return fits(*c); });
    if (at != calls_.end()) out.push_back(*at);
  };
  for (auto const& claim : claims_of(*request.desired)) {
    if (find_claim(*request.base, claim.id)) continue;
    add([&](call const& c) { return c.what == wish::allocate && c.who->id == claim.id; });
  }
  auto const session = request.desired->meta.labels.value_or_empty("session");
  if (!session.empty() && session != request.base->meta.labels.value_or_empty("session")) {
    add([&](call const& c) { return c.who->plain && c.who->id == session; });
  }
  return out;
}

// Inside the allocator's turn: nothing may throw.
void process::sending(update_request const& request, bool again) {
  auto const calls = calls_of(request);
  std::string text = name_ + " sends " + request.base->meta.name.str() + " at version " + request.base->meta.resource_version.str();
  for (auto const& c : calls) text += (c == calls.front() ? " for " : ", ") + c->who->id;
  world_.say(text + (again ? ", again" : ""));
  if (again) return;
  if (calls.size() > 1) world_.count("shared writes");
  for (auto const& c : calls) chosen_.insert(c->who->id);
  if (!in_order_) return;
  for (auto const& c : calls) check_order(*c);
}

// Who has had a server before, and lost it, waits for news of that one first.
void process::check_order(call const& younger) {
  for (auto const& older : calls_) {
    if (older->number >= younger.number) return;
    if (older->what != wish::allocate || chosen_.contains(older->who->id) || older->cancelled || older->who->wants != younger.who->wants) continue;
    if (world_.gate && !older->who->holdings.empty()) continue;  // it waits for its pending server, or, after that one, anew
    if (older->who->rooms > younger.who->rooms) continue;  // less may fit
    if (older->waits_until <= clock_.now() || older->who->open != 1) continue;
    auto const self = std::find_if(calls_.begin(), calls_.end(), [&](call_ptr const& c) { return c.get() == &younger; });
    suspects_.emplace_back(*self, older);
  }
}

void process::close() {
  if (dead_ || closed_) return;
  world_.say(name_ + " closes");
  closed_ = true;
  reflector_->stop();
  allocator_.reset();
  if (gate_) gate_->stop();
  wake();
}

void process::kill() {
  if (std::exchange(dead_, true)) return;
  world_.say(name_ + " is gone");
  for (auto const& c : std::exchange(calls_, {})) {
    c->ended = true;
    oracle_.ended(*c->who, c->what == wish::allocate, outcome::unknown);
    c->done({});
  }
  allocator_.reset();
  reflector_.reset();
  gate_.reset();
  feed_.drop();
  store_.drop();
}

void process::check_rest() {
  if (cache_.in_flight() != 0) world_.fail(name_ + " keeps a server from everybody");
  auto const truth = api_.list();
  for (auto const& server : truth) {
    auto const known = cache_.find(key_of(server->meta));
    auto const name = server->meta.name.str();
    if (is_allocatable(*server) && !known) {
      world_.fail(name_ + " does not know " + name);
    } else if (known && known->meta.resource_version != server->meta.resource_version) {
      world_.fail(name_ + " knows an old " + name);
    }
  }
  for (auto const& known : cache_.snapshot("")) {
    auto const server = api_.read(known->meta.name.view());
    if (!server || server->meta.uid != known->meta.uid) world_.fail(name_ + " knows " + known->meta.name.str() + ", which does not exist");
  }
}

}  // namespace simulation
