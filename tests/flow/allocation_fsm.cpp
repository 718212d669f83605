#include <agones_alloc/flow/allocation_fsm.hpp>

#include <doctest/doctest.h>

using namespace agones_alloc;
using namespace std::chrono_literals;

namespace {

using step = allocation_step;

struct machine {
  backoff policy{};
  allocation_limits limits{};
  allocation_fsm::time_point now{std::chrono::hours{1}};
  allocation_fsm::time_point deadline{now + 1s};
  allocation_fsm fsm{policy, limits, deadline};

  void claim() {
    REQUIRE(fsm.start(now).step == step::pick);
    REQUIRE(fsm.picked(now).step == step::update);
  }
  void write() {
    claim();
    REQUIRE(fsm.sent().step == step::hold);
  }
};

auto is_end(allocation_action const& action, outcome result, claim_end claim) -> bool {
  return action.step == step::finished && action.complete && action.result == result && action.claim == claim;
}

}  // namespace

TEST_CASE_FIXTURE(machine, "a claim, a write, an acknowledgement: allocated") {
  claim();
  auto const sent = fsm.sent();
  CHECK(sent.step == step::hold);
  CHECK(sent.until == deadline);
  CHECK(is_end(fsm.update_done(write_answer::applied, now, 0.0), outcome::allocated, claim_end::settle));
  CHECK(fsm.finished());
  CHECK(fsm.tries() == 1);
}

TEST_CASE_FIXTURE(machine, "nothing that matches ends as exhausted at once") {
  fsm.start(now);
  CHECK(is_end(fsm.none(now), outcome::exhausted, claim_end::keep));
}

TEST_CASE_FIXTURE(machine, "who may wait parks where there is nothing, and ends as exhausted when the time is up") {
  fsm = {policy, limits, deadline, now + 100ms};
  fsm.start(now);
  CHECK(fsm.would_wait(now));
  auto const parked = fsm.none(now);
  CHECK(parked.step == step::park);
  CHECK(parked.until == now + 100ms);
  CHECK(fsm.woken(now + 50ms).step == step::pick);
  CHECK(fsm.none(now + 50ms).until == now + 100ms);  // the time does not begin anew
  CHECK(fsm.time_passed(now + 99ms).step == step::park);
  CHECK(is_end(fsm.time_passed(now + 100ms), outcome::exhausted, claim_end::keep));
}

TEST_CASE_FIXTURE(machine, "waiting ends with the caller's time, and is not begun after it") {
  fsm = {policy, limits, deadline, deadline + 1s};
  fsm.start(now);
  CHECK(fsm.none(now).until == deadline);
  CHECK(is_end(fsm.time_passed(deadline), outcome::exhausted, claim_end::keep));
  fsm = {policy, limits, deadline, now};
  fsm.start(now);
  CHECK_FALSE(fsm.would_wait(now));
  CHECK(is_end(fsm.none(now), outcome::exhausted, claim_end::keep));
}

TEST_CASE_FIXTURE(machine, "an answer that is there already ends it, with advice") {
  fsm = {policy, limits, deadline, deadline};
  fsm.start(now);
  auto const action = fsm.known(outcome::contention, 100ms);
  CHECK(is_end(action, outcome::contention, claim_end::keep));
  CHECK(action.retry_after == 100ms);
}

TEST_CASE_FIXTURE(machine, "a claim that turns out to need no write is given back with the answer") {
  claim();
  CHECK(is_end(fsm.nothing_to_write(outcome::allocated), outcome::allocated, claim_end::put_back));
  CHECK(fsm.tries() == 0);
}

TEST_CASE_FIXTURE(machine, "who may wait longer than others park waits as long for servers that are being written") {
  fsm = {policy, limits, now + std::chrono::hours{1}, now + 60s};
  fsm.start(now);
  CHECK(fsm.busy(now).until == now + 60s);
  CHECK(fsm.woken(now + 1s).step == step::pick);
  CHECK(fsm.none(now + 1s).until == now + 60s);
  CHECK(fsm.woken(now + 2s).step == step::pick);
  fsm.busy(now + 2s);
  CHECK(is_end(fsm.time_passed(now + 60s), outcome::contention, claim_end::keep));
}

TEST_CASE_FIXTURE(machine, "a deadline that has passed before the start takes nothing") {
  CHECK(is_end(fsm.start(deadline), outcome::deadline, claim_end::keep));
}

TEST_CASE_FIXTURE(machine, "a busy request parks until it is woken") {
  fsm.start(now);
  auto const parked = fsm.busy(now);
  CHECK(parked.step == step::park);
  CHECK(parked.until == deadline);
  CHECK(fsm.woken(now + 1ms).step == step::pick);
}

TEST_CASE_FIXTURE(machine, "parking is limited in all, however often a request is woken") {
  limits.park = 50ms;
  fsm.start(now);
  CHECK(fsm.busy(now).until == now + 50ms);
  fsm.woken(now + 40ms);
  CHECK(fsm.busy(now + 40ms).until == now + 50ms);
  auto const end = fsm.time_passed(now + 50ms);
  CHECK(is_end(end, outcome::contention, claim_end::keep));
  CHECK(end.retry_after == 10ms);
}

TEST_CASE_FIXTURE(machine, "a conflict asks for fresh data and tries again after the wait") {
  write();
  auto const pause = fsm.update_done(write_answer::conflict, now, 0.0);
  CHECK(pause.claim == claim_end::refresh);
  CHECK(pause.step == step::sleep);
  CHECK(pause.until == now + 10ms);
  CHECK_FALSE(pause.complete);
  CHECK(fsm.time_passed(now + 9ms).step == step::sleep);
  CHECK(fsm.time_passed(now + 10ms).step == step::pick);
}

TEST_CASE_FIXTURE(machine, "five lost tries are contention, with advice") {
  fsm.start(now);
  for (int tries = 1; tries <= 5; ++tries) {
    fsm.picked(now);
    fsm.sent();
    auto const action = fsm.update_done(write_answer::conflict, now, 0.0);
    if (tries == 5) {
      CHECK(is_end(action, outcome::contention, claim_end::refresh));
    } else {
      now = action.until;
      REQUIRE(fsm.time_passed(now).step == step::pick);
    }
  }
  CHECK(fsm.tries() == 5);
}

TEST_CASE_FIXTURE(machine, "a store that cannot be reached puts back, retries, and ends as unavailable") {
  fsm.start(now);
  for (int tries = 1; tries <= 5; ++tries) {
    fsm.picked(now);
    fsm.sent();
    auto const action = fsm.update_done(write_answer::not_applied, now, 0.0);
    CHECK(action.claim == claim_end::put_back);
    if (tries == 5) {
      CHECK(is_end(action, outcome::unavailable, claim_end::put_back));
    } else {
      now = action.until;
      REQUIRE(fsm.time_passed(now).step == step::pick);
    }
  }
}

TEST_CASE_FIXTURE(machine, "the store's own retry-after counts when it is longer") {
  write();
  CHECK(fsm.update_done(write_answer::not_applied, now, 0.0, 300ms).until == now + 300ms);
}

TEST_CASE_FIXTURE(machine, "a retry that does not fit before the deadline is not waited for") {
  write();
  auto const end = fsm.update_done(write_answer::not_applied, now, 0.0, 2s);
  CHECK(is_end(end, outcome::unavailable, claim_end::put_back));
  CHECK(end.retry_after == 2s);
}

TEST_CASE_FIXTURE(machine, "a refusal burns no other server") {
  write();
  CHECK(is_end(fsm.update_done(write_answer::refused, now, 0.0), outcome::refused, claim_end::put_back));
}

TEST_CASE_FIXTURE(machine, "a server that is gone is removed and another one tried") {
  write();
  auto const action = fsm.update_done(write_answer::gone, now, 0.0);
  CHECK(action.claim == claim_end::remove);
  CHECK(action.step == step::sleep);
}

TEST_CASE_FIXTURE(machine, "a lost answer is resolved by reading") {
  write();
  auto const action = fsm.update_done(write_answer::unknown, now, 0.0);
  CHECK(action.step == step::read);
  CHECK(action.claim == claim_end::keep);
  SUBCASE("our write is there: allocated") {
    CHECK(is_end(fsm.read_done(read_answer::applied, now, 0.0), outcome::allocated, claim_end::settle));
  }
  SUBCASE("it is not there, or not yet: the same server again, and no other") {
    auto const pause = fsm.read_done(read_answer::untouched, now, 0.0);
    CHECK(pause.claim == claim_end::keep);
    CHECK(pause.step == step::sleep);
    CHECK(fsm.repeats());
    now = pause.until;
    CHECK(fsm.time_passed(now).step == step::update);
    CHECK(fsm.sent().step == step::hold);
    SUBCASE("made now") { CHECK(is_end(fsm.update_done(write_answer::applied, now, 0.0), outcome::allocated, claim_end::settle)); }
    SUBCASE("a conflict with itself") {
      CHECK(fsm.update_done(write_answer::conflict, now, 0.0).step == step::read);
      CHECK(is_end(fsm.read_done(read_answer::applied, now, 0.0), outcome::allocated, claim_end::settle));
    }
    SUBCASE("a conflict with somebody else: neither can be made any more") {
      CHECK(fsm.update_done(write_answer::conflict, now, 0.0).step == step::read);
      auto const again = fsm.read_done(read_answer::superseded, now, 0.0);
      CHECK(again.claim == claim_end::settle);
      CHECK_FALSE(fsm.repeats());
    }
    SUBCASE("refused: the first one may be made all the same") {
      auto const more = fsm.update_done(write_answer::refused, now, 0.0);
      CHECK(more.claim == claim_end::keep);
      CHECK(more.step == step::sleep);
      CHECK(is_end(fsm.cancel(now), outcome::unknown, claim_end::put_back));
    }
  }
  SUBCASE("what can be found by its id goes on without its caller") {
    fsm.see_it_through();
    fsm.read_done(read_answer::untouched, now, 0.0);
    auto const told = fsm.cancel(now);
    CHECK(told.complete);
    CHECK(told.result == outcome::unknown);
    CHECK(told.claim == claim_end::keep);
    CHECK(told.step == step::sleep);
    now = told.until;
    CHECK(fsm.time_passed(now).step == step::update);
    fsm.sent();
    auto const end = fsm.update_done(write_answer::applied, now, 0.0);
    CHECK(end.claim == claim_end::settle);
    CHECK(end.step == step::finished);
    CHECK_FALSE(end.complete);
  }
  SUBCASE("somebody else was faster: take what is there, and again") {
    auto const again = fsm.read_done(read_answer::superseded, now, 0.0);
    CHECK(again.claim == claim_end::settle);
    CHECK(again.step == step::sleep);
  }
  SUBCASE("somebody else's allocation may lie on ours: unknown") {
    CHECK(is_end(fsm.read_done(read_answer::ambiguous, now, 0.0), outcome::unknown, claim_end::settle));
  }
  SUBCASE("the server is gone: another one") {
    auto const again = fsm.read_done(read_answer::gone, now, 0.0);
    CHECK(again.claim == claim_end::remove);
    CHECK(again.step == step::sleep);
  }
}

TEST_CASE_FIXTURE(machine, "after so many failed reads the caller is told unknown and the reading goes on") {
  limits.resolve_attempts = 2;
  write();
  REQUIRE(fsm.update_done(write_answer::unknown, now, 0.0).step == step::read);
  auto const first = fsm.read_done(read_answer::failed, now, 0.0);
  CHECK(first.step == step::sleep);
  CHECK_FALSE(first.complete);
  now = first.until;
  REQUIRE(fsm.time_passed(now).step == step::read);
  auto const second = fsm.read_done(read_answer::failed, now, 0.0);
  CHECK(second.complete);
  CHECK(second.result == outcome::unknown);
  CHECK(second.claim == claim_end::keep);
  CHECK(second.step == step::sleep);
  CHECK(fsm.claiming());
  now = second.until;
  REQUIRE(fsm.time_passed(now).step == step::read);
  auto const end = fsm.read_done(read_answer::untouched, now, 0.0);
  CHECK(end.claim == claim_end::put_back);
  CHECK(end.step == step::finished);
  CHECK_FALSE(end.complete);
}

TEST_CASE_FIXTURE(machine, "a deadline during the write tells unknown at once; the answer is still used") {
  write();
  auto const told = fsm.time_passed(deadline);
  CHECK(told.complete);
  CHECK(told.result == outcome::unknown);
  CHECK(told.step == step::hold);
  CHECK(told.claim == claim_end::keep);
  auto const end = fsm.update_done(write_answer::applied, deadline + 1s, 0.0);
  CHECK(end.claim == claim_end::settle);
  CHECK(end.step == step::finished);
  CHECK_FALSE(end.complete);
}

TEST_CASE_FIXTURE(machine, "a caller that leaves during the write gets what the answer says") {
  write();
  auto const leaving = fsm.cancel(now);
  CHECK(leaving.withdraw_write);
  CHECK_FALSE(leaving.complete);
  SUBCASE("applied") {
    CHECK(is_end(fsm.update_done(write_answer::applied, now, 0.0), outcome::allocated, claim_end::settle));
  }
  SUBCASE("withdrawn in time") {
    CHECK(is_end(fsm.update_done(write_answer::cancelled, now, 0.0), outcome::cancelled, claim_end::put_back));
  }
  SUBCASE("lost a race") {
    CHECK(is_end(fsm.update_done(write_answer::conflict, now, 0.0), outcome::cancelled, claim_end::refresh));
  }
  SUBCASE("unknown: told at once, resolved in the background") {
    auto const told = fsm.update_done(write_answer::unknown, now, 0.0);
    CHECK(told.complete);
    CHECK(told.result == outcome::unknown);
    CHECK(told.step == step::read);
    CHECK(told.claim == claim_end::keep);
  }
}

TEST_CASE_FIXTURE(machine, "a caller that leaves between claim and write costs no server") {
  claim();
  CHECK(is_end(fsm.cancel(now), outcome::cancelled, claim_end::put_back));
}

TEST_CASE_FIXTURE(machine, "a refresh reads until it knows, and tells nobody") {
  REQUIRE(fsm.start_refresh().step == step::read);
  auto action = fsm.read_done(read_answer::failed, now, 0.0);
  for (int failures = 1; failures < 20; ++failures) {
    REQUIRE(action.step == step::sleep);
    REQUIRE_FALSE(action.complete);
    CHECK(action.until - now <= 5s);
    now = action.until;
    REQUIRE(fsm.time_passed(now).step == step::read);
    action = fsm.read_done(read_answer::failed, now, 0.0);
  }
  now = action.until;
  fsm.time_passed(now);
  auto const end = fsm.read_done(read_answer::superseded, now, 0.0);
  CHECK(end.claim == claim_end::settle);
  CHECK(end.step == step::finished);
  CHECK_FALSE(end.complete);
}

TEST_CASE_FIXTURE(machine, "events that come late change nothing") {
  write();
  CHECK(fsm.woken(now) == fsm.time_passed(now));
  CHECK(fsm.read_done(read_answer::gone, now, 0.0).step == step::hold);
  fsm.update_done(write_answer::applied, now, 0.0);
  allocation_action const nothing;
  CHECK(fsm.cancel(now) == nothing);
  CHECK(fsm.time_passed(deadline) == nothing);
  CHECK(fsm.woken(now) == nothing);
  CHECK(fsm.update_done(write_answer::conflict, now, 0.0) == nothing);
}

TEST_CASE("a policy of the user's own decides how often and when") {
  class twice final : public retry_policy {
   public:
    auto wait_after(std::uint32_t failures, double) const noexcept -> std::optional<std::chrono::nanoseconds> override {
      if (failures > 1) return std::nullopt;
      return 3ms;
    }
  };
  twice const policy;
  allocation_limits const limits;
  auto const now = allocation_fsm::time_point{1h};
  allocation_fsm fsm{policy, limits, now + 1s};
  fsm.start(now);
  fsm.picked(now);
  fsm.sent();
  CHECK(fsm.update_done(write_answer::not_applied, now, 0.0).until == now + 3ms);
  fsm.time_passed(now + 3ms);
  fsm.picked(now + 3ms);
  fsm.sent();
  CHECK(fsm.update_done(write_answer::not_applied, now + 3ms, 0.0).result == outcome::unavailable);
}

TEST_CASE_FIXTURE(machine, "who shares a write shares its fate") {
  auto const joined = [this] {
    fsm = {policy, limits, deadline};
    fsm.start(now);
    auto const action = fsm.join();
    CHECK(action.step == step::hold);
    CHECK(action.until == deadline);
    CHECK(fsm.tries() == 1);
  };
  joined();
  CHECK(is_end(fsm.join_ended(shared_fate::applied, now, 0.0), outcome::allocated, claim_end::keep));
  joined();
  CHECK(is_end(fsm.join_ended(shared_fate::unknown, now, 0.0), outcome::unknown, claim_end::keep));
  joined();
  CHECK(fsm.join_ended(shared_fate::left, now, 0.0).step == step::pick);
  joined();
  auto const again = fsm.join_ended(shared_fate::lost, now, 0.0);
  CHECK(again.step == step::sleep);
  CHECK(fsm.time_passed(again.until).step == step::pick);
  joined();
  fsm.cancel(now);
  CHECK(is_end(fsm.join_ended(shared_fate::left, now, 0.0), outcome::cancelled, claim_end::keep));
  joined();
  fsm.cancel(now);
  CHECK(is_end(fsm.join_ended(shared_fate::applied, now, 0.0), outcome::allocated, claim_end::keep));
  joined();
  CHECK(is_end(fsm.time_passed(deadline), outcome::unknown, claim_end::keep));
}
