#include "matchmaker.hpp"

#include "bounds.hpp"
#include "wanted.hpp"

#include <agones_alloc/flow/pending.hpp>

#include <utility>

namespace simulation {

matchmaker::matchmaker(surroundings const& around, std::uint64_t number)
    : around_{around}, name_{"m" + std::to_string(number)}, patient_{around.w.chance(0.8)}, confirms_{around.w.chance(0.5)} {
  auto& w = around_.w;
  claimant who;
  who.id = name_;
  who.wants = static_cast<shape>(w.random.below(3));
  who.plain = who.wants != shape::room && w.chance(0.1);
  if (!who.plain && w.chance(0.7)) who.ttl = w.between(300ms, 5s);
  who.game_confirms = who.ttl && w.chance(0.3);
  if (w.exact && who.wants == shape::room) {
    who.rooms = 1 + static_cast<std::int64_t>(w.random.below(2));
    who.exact = w.broken != mutation::exact_cut;
    if (who.rooms == 2) w.count("requests of two rooms");
  }
  me_ = around_.truth.enroll(std::move(who));
  wanted_ = wanted(*me_);
}

void matchmaker::start() {
  auto const n = !me_->plain && around_.w.chance(0.15) ? std::size_t{3} : std::size_t{1};
  ask(n);
}

auto matchmaker::call_options() -> allocate_options {
  auto& w = around_.w;
  allocate_options out;
  out.timeout = w.chance(0.2) ? w.between(1ms, 200ms) : w.between(200ms, 4s);
  if (w.chance(0.5)) out.wait_for = w.between(10ms, 3s);
  if (!me_->plain) out.request_id = me_->id;
  out.claim_ttl = me_->ttl;
  return out;
}

auto matchmaker::any_replica() -> process_ptr {
  auto const& one = *around_.replicas[around_.w.random.below(around_.replicas.size())];
  return one.current();
}

void matchmaker::die(char const* where) {
  dead_ = true;
  around_.w.count("matchmakers that died");
  around_.w.say(name_ + " dies, " + where);
}

// The request travels to the replica, the answer back; either may be lost.
void matchmaker::send(process_ptr const& to, wish what, request_ptr wanted, std::function<void(reply)> done) {
  auto& w = around_.w;
  auto c = std::make_shared<call>();
  c->what = what;
  c->who = me_;
  c->request = std::move(wanted);
  c->options = call_options();
  if (what != wish::allocate) c->options.wait_for = 0ns;
  auto const asynchronous = what == wish::allocate && c->request == wanted_ && w.gate && !me_->plain && w.chance(0.2);
  if (asynchronous) c->options.gate = std::make_shared<gate_request const>(gate_request{{}, true, {}});
  if (w.broken == mutation::digest_not_compared && c->request) w.asked[me_->id] = request_digest(*c->request);
  c->to = w.chance(0.7) ? release_to::ready : release_to::shutdown;
  auto const lost = w.trouble(w.sky.lost_caller);
  auto told = std::make_shared<bool>(false);
  c->done = [&w, done, lost, told, asynchronous, self = shared_from_this()](reply r) {
    if (std::exchange(*told, true)) return;
    if (lost) r = {};
    r.pending = asynchronous && r.result.server && has_pending(*r.result.server);
    if (!r.arrived) self->me_->unsure = true;
    w.queue.in(w.between(100us, 5ms), [done, r, self] {
      if (!self->dead_) done(r);
    });
  };
  auto const weak = std::weak_ptr<process>{to};
  // The way there.
  w.queue.in(w.between(100us, 3ms), [c, weak, told, done, self = shared_from_this()] {
    auto const there = weak.lock();
    if (!there || !there->serving()) {
      if (std::exchange(*told, true)) return;
      if (!self->dead_) done({true, false, {}, {}});
      return;
    }
    self->deliver(there, c);
  });
}

void matchmaker::deliver(process_ptr const& there, call_ptr const& c) {
  auto& w = around_.w;
  auto const* const what = c->what == wish::allocate ? " asks " : c->what == wish::confirm ? " confirms at " : " releases at ";
  w.say(name_ + what + there->name());
  there->begin(c);
  // It may hang up at any time.
  if (!w.trouble(0.08)) return;
  w.queue.in(w.chance(0.4) ? w.between(0ns, 2ms) : w.between(0ns, 500ms), [c, weak = std::weak_ptr<process>{there}, self = shared_from_this()] {
    auto const process = weak.lock();
    if (!process || c->ended) return;
    self->around_.w.say(self->name_ + " hangs up");
    self->around_.w.count("calls cancelled");
    process->cancel(c);
  });
}

// The same process knows what it did. Another one knows when no write can be under way any more and its watch has
// brought all that was written. Who does not wait for that may get two servers.
void matchmaker::choose(std::function<void(process_ptr)> then) {
  auto& w = around_.w;
  auto const last = last_.lock();
  if (last && last->serving() && w.chance(0.6)) return then(last);
  if (rounds_ == 0) return then(any_replica());
  if (!patient_) {
    me_->impatient = true;
    return then(any_replica());
  }
  when_known(w.now(), std::move(then));
}

void matchmaker::when_known(nanos since, std::function<void(process_ptr)> then) {
  auto& w = around_.w;
  auto const over = me_->open == 0 && w.now() >= std::max(since, me_->last_end) + bounds::network;
  if (!over) {
    w.queue.in(100ms, [self = shared_from_this(), since, then] { self->when_known(since, then); });
    return;
  }
  auto const needed = around_.api.version();
  auto look = std::make_shared<std::function<void()>>();
  *look = [self = shared_from_this(), needed, then, weak = std::weak_ptr{look}] {
    for (auto const& one : self->around_.replicas) {
      auto const& there = one->current();
      if (there && there->serving() && there->seen() >= needed) return then(there);
    }
    if (auto const again = weak.lock()) self->around_.w.queue.in(50ms, [again] { (*again)(); });
  };
  (*look)();
}

void matchmaker::ask(std::size_t at_once) {
  choose([self = shared_from_this(), at_once](process_ptr const& there) {
    ++self->rounds_;
    if (!there) return self->ask_again();
    self->last_ = there;
    self->best_.reset();
    self->pending_ = false;
    self->outstanding_ = at_once;
    auto const second = self->patient_ || self->rounds_ != 1 || self->me_->plain ? nullptr : self->any_replica();
    if (second && second != there) {
      self->me_->impatient = true;
      ++self->outstanding_;
      self->send(second, wish::allocate, self->wanted_, [self](reply r) { self->asked(std::move(r)); });
    }
    for (std::size_t i = 0; i != at_once; ++i) {
      self->send(there, wish::allocate, self->wanted_, [self](reply r) { self->asked(std::move(r)); });
    }
  });
}

void matchmaker::ask_again() {
  around_.w.queue.in(around_.w.between(1ms, 600ms), [self = shared_from_this()] {
    if (!self->dead_) self->ask(1);
  });
}

// One answer of those to the same question; when all are there, the best counts.
void matchmaker::asked(reply r) {
  auto const good = [](reply const& one) { return one.arrived && one.executed && one.result.result == outcome::allocated && !one.pending; };
  if (r.pending) {
    around_.w.count("asynchronous answers");
    pending_ = true;
    me_->unsure = true;  // it has to ask again
  }
  if (good(r)) {
    around_.truth.told_allocated(*me_, *r.result.server);
    told_at_ = around_.api.version();
  }
  if (!best_ || !good(*best_)) best_ = std::move(r);
  if (--outstanding_ != 0) return;
  if (good(*best_)) return held();
  auto& w = around_.w;
  if (says_for_sure(*best_)) {
    if (me_->live() != 0) w.fail(name_ + " asked a replica that must know, and was told " + std::string{to_string(best_->result.result)} + ", but a server is its");
    me_->unsure = false;
  }
  if (me_->ttl && w.chance(0.1)) return die("without a server");
  // What may have been taken and does not end by itself has to be found.
  auto const must_know = me_->unsure && !me_->plain && !me_->ttl && !me_->impatient;
  if (!must_know && (w.calm || rounds_ > 6 || w.chance(0.3))) return;
  if (me_->plain && me_->unsure) return;
  ask_again();
}

// Nobody holds anything for this id: the replica has looked for its claim, and it knows of every write.
auto matchmaker::says_for_sure(reply const& r) const -> bool {
  if (!r.arrived || !r.executed || me_->open != 0 || me_->impatient || pending_) return false;
  auto const result = r.result.result;
  return result == outcome::exhausted || result == outcome::refused || result == outcome::unavailable;
}

void matchmaker::held() {
  auto& w = around_.w;
  if (me_->plain) return;
  if (w.chance(0.15)) {
    misuse();
    w.queue.in(w.between(50ms, 1s), [self = shared_from_this()] { self->misuse(); });
  }
  if (!me_->ttl) return leave_or_release();
  if (confirms_) {
    w.queue.in(w.between(0ns, *me_->ttl * 6 / 10), [self = shared_from_this()] { self->confirm(0); });
  } else if (me_->game_confirms) {
    leave_or_release();
  } else {
    die("without a confirmation");
  }
}

// The same id for something else: as long as its server is held, it must be refused.
void matchmaker::misuse() {
  auto const there = last_.lock();
  if (dead_ || me_->releasing || !there || !there->serving() || me_->live() == 0) return;
  around_.w.count("misused ids");
  me_->misused = true;
  send(there, wish::allocate, wanted(*me_, "other"), [self = shared_from_this()](reply r) {
    // Its first server may have been gone, and nobody asks for the second one.
    if (!r.arrived || r.result.result == outcome::unknown) self->me_->impatient = true;
    if (!r.arrived || !r.executed || r.result.result != outcome::allocated) return;
    auto const* const held = self->me_->held_at(r.result.server->meta.uid);
    auto const known = held != nullptr && held->told && !held->ended;
    if (known) self->around_.w.fail(self->name_ + " used its id for another request, and was given " + r.result.server->meta.name.str());
    self->around_.truth.told_allocated(*self->me_, *r.result.server);  // its first server was gone
    self->me_->impatient = true;                                       // not everybody knows of the second one yet
  });
}

// Somebody who has the claim: who made it, or whose watch has brought it.
void matchmaker::with_claim(std::function<void(process_ptr)> then) {
  auto const last = last_.lock();
  if (last && last->serving() && around_.w.chance(0.6)) return then(last);
  for (auto const& one : around_.replicas) {
    auto const& there = one->current();
    if (there && there->serving() && there->seen() >= told_at_) return then(there);
  }
  around_.w.queue.in(50ms, [self = shared_from_this(), then] { self->with_claim(then); });
}

void matchmaker::confirm(int tries) {
  if (dead_) return;
  with_claim([self = shared_from_this(), tries](process_ptr const& there) {
    self->send(there, wish::confirm, nullptr, [self, tries](reply r) {
      auto& w = self->around_.w;
      if (r.arrived && r.executed && r.result.result == outcome::allocated) {
        self->around_.truth.told_confirmed(*self->me_, *r.result.server);
        return self->leave_or_release();
      }
      if (r.arrived && r.executed && r.ec == errc::not_found) {
        w.count("confirmed too late");
        return self->around_.truth.told_not_found(*self->me_);
      }
      if (tries > 8) return self->die("without having confirmed");
      w.queue.in(w.between(1ms, 200ms), [self, tries] { self->confirm(tries + 1); });
    });
  });
}

void matchmaker::leave_or_release() {
  auto& w = around_.w;
  if (w.chance(0.4)) return;  // the game will end some day
  w.queue.in(w.between(50ms, 4s), [self = shared_from_this()] { self->release(); });
}

void matchmaker::release() {
  with_claim([self = shared_from_this()](process_ptr const& there) {
    self->me_->releasing = true;
    self->send(there, wish::release, nullptr, [self](reply r) {
      auto& w = self->around_.w;
      if (r.arrived && r.executed && r.result.result == outcome::allocated) {
        return self->around_.truth.told_released(*self->me_, *r.result.server);
      }
      if (r.arrived && r.executed && r.ec == errc::not_found) return self->around_.truth.told_not_found(*self->me_);
      w.queue.in(w.between(1ms, 300ms), [self] { self->release(); });
    });
  });
}

}  // namespace simulation
