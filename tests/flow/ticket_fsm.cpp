#include <agones_alloc/flow/ticket_fsm.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <utility>

using namespace agones_alloc;
using namespace std::chrono_literals;

namespace {

using time_point = ticket_fsm::time_point;
constexpr time_point start{1h};

/// A ticket whose answers the test gives, at a time that it rules. Pauses are 100 ms, 200 ms, ... up to 1 s, without jitter.
struct world {
  explicit world(std::chrono::nanoseconds timeout = 30s) : fsm{rules, start + timeout} {}

  auto allocate(std::chrono::nanoseconds ttl = 10s, bool confirm = true, std::chrono::nanoseconds wait = 0ns) -> ticket_step {
    return take(fsm.start(now, now + wait, ttl, confirm));
  }
  auto about(ticket_step what) -> ticket_step { return take(fsm.start_claim(what, now)); }
  auto hear(ticket_answer answer, std::chrono::nanoseconds advice = 0ns) -> ticket_step {
    return take(fsm.answered(answer, now, 0.0, advice));
  }
  /// Hears it, and sleeps as it is told to.
  auto then(ticket_answer answer) -> ticket_step {
    REQUIRE(hear(answer) == ticket_step::sleep);
    return wake();
  }
  auto wake() -> ticket_step {
    now = last.until;
    return take(fsm.time_passed(now));
  }
  auto take(ticket_action action) -> ticket_step {
    moves += action.next_endpoint ? 1 : 0;
    last = action;
    return action.step;
  }

  ticket_rules rules{{std::numeric_limits<std::uint32_t>::max(), 100ms, 2.0, 0.0, 1s}, 5s};
  time_point now{start};
  ticket_fsm fsm;
  ticket_action last;
  int moves{0};
};

}  // namespace

TEST_CASE("a server is the caller's once its claim is confirmed") {
  world w;
  CHECK(w.allocate() == ticket_step::allocate);
  CHECK(w.hear(ticket_answer::done) == ticket_step::confirm);
  CHECK_FALSE(w.fsm.confirmed());
  CHECK(w.hear(ticket_answer::done) == ticket_step::finished);
  CHECK(w.last.result == outcome::allocated);
  CHECK(w.fsm.confirmed());
}

TEST_CASE("a claim that does not expire, or is confirmed by others, ends the ticket when the server is handed out") {
  world none;
  none.allocate(0ns);
  CHECK(none.hear(ticket_answer::done) == ticket_step::finished);
  CHECK(none.last.result == outcome::allocated);
  CHECK(none.fsm.confirmed());
  world later;
  later.allocate(10s, false);
  CHECK(later.hear(ticket_answer::done) == ticket_step::finished);
  CHECK(later.last.result == outcome::allocated);
  CHECK_FALSE(later.fsm.confirmed());
}

TEST_CASE("what was lost or not done is asked again, after longer and longer pauses") {
  world w;
  w.allocate();
  for (auto const pause : {100ms, 200ms, 400ms, 800ms, 1000ms, 1000ms}) {
    auto const before = w.now;
    CHECK(w.then(ticket_answer::contention) == ticket_step::allocate);
    CHECK(w.now - before == pause);
  }
  CHECK(w.hear(ticket_answer::done) == ticket_step::confirm);
  auto const before = w.now;
  CHECK(w.then(ticket_answer::unknown) == ticket_step::confirm);
  CHECK(w.now - before == 100ms);
}

TEST_CASE("a longer Retry-After is heeded") {
  world w;
  w.allocate();
  CHECK(w.hear(ticket_answer::contention, 3s) == ticket_step::sleep);
  CHECK(w.last.until == start + 3s);
}

TEST_CASE("a replica that cannot be reached is left, one whose answer was lost is asked once more first") {
  world w;
  w.allocate();
  w.then(ticket_answer::unavailable);
  CHECK(w.moves == 1);
  w.then(ticket_answer::unknown);
  CHECK(w.moves == 1);
  w.then(ticket_answer::unknown);
  CHECK(w.moves == 2);
  w.then(ticket_answer::unknown);
  CHECK(w.moves == 2);
}

TEST_CASE("nothing matches: an answer without a wait, a reason to ask again with one") {
  world w;
  w.allocate();
  CHECK(w.hear(ticket_answer::exhausted) == ticket_step::finished);
  CHECK(w.last.result == outcome::exhausted);

  world waits;
  waits.allocate(10s, true, 1s);
  CHECK(waits.then(ticket_answer::exhausted) == ticket_step::allocate);
  waits.now = start + 1s;
  CHECK(waits.hear(ticket_answer::exhausted) == ticket_step::finished);
  CHECK(waits.last.result == outcome::exhausted);
}

TEST_CASE("as long as a request is lost nobody says that nothing was taken") {
  for (auto const last : {ticket_answer::exhausted, ticket_answer::contention, ticket_answer::unavailable, ticket_answer::unknown}) {
    world w{150ms};
    w.allocate();
    CHECK(w.then(ticket_answer::unknown) == ticket_step::allocate);
    CHECK(w.hear(last) == ticket_step::finished);
    CHECK(w.last.result == outcome::unknown);
  }
  world w{150ms};
  w.allocate();
  w.then(ticket_answer::unknown);
  w.fsm.leave();
  w.hear(ticket_answer::unavailable);
  CHECK(w.last.result == outcome::unknown);
}

TEST_CASE("time that is up ends as what was heard last, with advice where it helps") {
  world busy{50ms};
  busy.allocate();
  CHECK(busy.hear(ticket_answer::contention) == ticket_step::finished);
  CHECK(busy.last.result == outcome::contention);
  CHECK(busy.last.retry_after == 100ms);
  world away{50ms};
  away.allocate();
  away.hear(ticket_answer::unavailable);
  CHECK(away.last.result == outcome::unavailable);
  world late{0ns};
  CHECK(late.allocate() == ticket_step::finished);
  CHECK(late.last.result == outcome::deadline);
}

TEST_CASE("what makes no sense or is not allowed is not asked again") {
  for (auto const& [answer, result] : {std::pair{ticket_answer::invalid, outcome::invalid}, std::pair{ticket_answer::refused, outcome::refused}}) {
    world w;
    w.allocate();
    CHECK(w.hear(answer) == ticket_step::finished);
    CHECK(w.last.result == result);
  }
}

TEST_CASE("a server that could not be confirmed is not the caller's") {
  world w{1s};
  w.allocate();
  w.hear(ticket_answer::done);
  w.then(ticket_answer::unavailable);
  w.then(ticket_answer::unavailable);
  w.then(ticket_answer::unavailable);
  CHECK(w.hear(ticket_answer::unavailable) == ticket_step::finished);
  CHECK(w.last.result == outcome::unknown);
}

TEST_CASE("a claim that is not known yet is asked for until its time is over; then another server is allocated") {
  world w;
  w.allocate(2s);
  w.hear(ticket_answer::done);
  auto step = ticket_step::confirm;
  int asked = 0;
  while (step == ticket_step::confirm && asked < 100) {
    ++asked;
    step = w.hear(ticket_answer::missing);
    if (step == ticket_step::sleep) step = w.wake();
  }
  CHECK(step == ticket_step::allocate);
  CHECK(w.now >= start + 2s);
  CHECK(w.moves == asked - 1);  // each time another replica
  CHECK(w.hear(ticket_answer::done) == ticket_step::confirm);
  CHECK(w.hear(ticket_answer::done) == ticket_step::finished);
  CHECK(w.last.result == outcome::allocated);
}

TEST_CASE("a confirmation of another server leads to asking for that one") {
  world w;
  w.allocate();
  w.hear(ticket_answer::done);
  CHECK(w.then(ticket_answer::other) == ticket_step::allocate);
  CHECK(w.hear(ticket_answer::done) == ticket_step::confirm);
  CHECK(w.hear(ticket_answer::done) == ticket_step::finished);
  CHECK(w.last.result == outcome::allocated);
}

TEST_CASE("who leaves before a server was handed out has none, who leaves after may have one") {
  world early;
  early.allocate();
  early.fsm.leave();
  early.hear(ticket_answer::unavailable);
  CHECK(early.last.result == outcome::cancelled);
  world late;
  late.allocate();
  late.fsm.leave();
  late.hear(ticket_answer::done);
  CHECK(late.last.result == outcome::unknown);
  world asleep;
  asleep.allocate();
  asleep.hear(ticket_answer::contention);
  asleep.fsm.leave();
  CHECK(asleep.wake() == ticket_step::finished);
  CHECK(asleep.last.result == outcome::cancelled);
}

TEST_CASE("a release is done when somebody says so") {
  world w;
  CHECK(w.about(ticket_step::release) == ticket_step::release);
  CHECK(w.then(ticket_answer::unavailable) == ticket_step::release);
  CHECK(w.hear(ticket_answer::done) == ticket_step::finished);
  CHECK(w.last.result == outcome::allocated);
}

TEST_CASE("a claim that nobody knows for long enough is none, unless a lost release has ended it") {
  for (bool const lost : {false, true}) {
    world w;
    w.about(ticket_step::release);
    if (lost) w.then(ticket_answer::unknown);
    int asked = 0;
    while (w.hear(ticket_answer::missing) == ticket_step::sleep && ++asked < 100) w.wake();
    CHECK(w.last.step == ticket_step::finished);
    CHECK(w.last.result == (lost ? outcome::allocated : outcome::exhausted));
    CHECK(w.now >= start + 5s);
    CHECK(w.moves >= 5);
  }
}

TEST_CASE("events that come late change nothing") {
  world w;
  w.allocate();
  CHECK(w.take(w.fsm.time_passed(w.now)) == ticket_step::sleep);
  w.hear(ticket_answer::contention);
  CHECK(w.take(w.fsm.answered(ticket_answer::done, w.now, 0.0)) == ticket_step::sleep);
  w.fsm.leave();
  w.wake();
  w.take(w.fsm.time_passed(start + 10s));
  CHECK(w.hear(ticket_answer::done) == ticket_step::finished);
}
