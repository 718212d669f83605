#include <agones_alloc/flow/gate_fsm.hpp>

#include <doctest/doctest.h>

using namespace agones_alloc;
using namespace std::chrono_literals;

namespace {

using time_point = gate_fsm::time_point;

struct pending {
  gate_settings gate;
  gate_limits limits;
  time_point now{1000s};
  gate_fsm fsm;

  explicit pending(bool mine = true, gate_source source = gate_source::watch, void (*change)(gate_settings&) = nullptr)
      : gate{settings(source, change)}, fsm{gate, limits, mine, now, now + 30s, 0.0} {}

  static auto settings(gate_source source, void (*change)(gate_settings&)) -> gate_settings {
    gate_settings out;
    out.enabled = true;
    out.source = source;
    if (change != nullptr) change(out);
    return out;
  }
  auto next() { return fsm.next(now); }
  void see(pending_reading reading) { fsm.observed(reading, now); }
  void answer(write_answer what) { fsm.written(what, now, 0.0); }
  /// The verdict of the write that is due now.
  auto writes() -> gate_verdict {
    auto const action = next();
    return action.step == gate_step::write ? action.verdict : gate_verdict::none;
  }
  auto ended() -> std::optional<gate_end> {
    auto const action = next();
    if (action.step != gate_step::finished) return std::nullopt;
    return action.end;
  }
  auto waits_for(std::chrono::nanoseconds time) -> bool {
    auto const action = next();
    return action.step == gate_step::wait && action.until == now + time;
  }
};

}  // namespace

TEST_CASE("its owner hands a server over as soon as the game says that it is ready") {
  pending one;
  CHECK(one.waits_for(30s));
  one.now += 3s;
  one.see(pending_reading::pending);
  CHECK(one.waits_for(27s));
  one.see(pending_reading::ready);
  CHECK(one.writes() == gate_verdict::passed);
  CHECK(one.next().step == gate_step::wait);  // for the answer
  CHECK_FALSE(one.ended());
  one.answer(write_answer::applied);
  CHECK(one.ended() == gate_end::ready);
}

TEST_CASE("another replica leaves it to the owner for a while") {
  pending one{false};
  one.now += 3s;
  one.see(pending_reading::ready);
  CHECK(one.waits_for(2s));
  SUBCASE("who did it meanwhile") {
    one.fsm.observed_passed();
    CHECK(one.ended() == gate_end::ready);
  }
  SUBCASE("who did not") {
    one.now += 2s;
    CHECK(one.writes() == gate_verdict::passed);
    one.answer(write_answer::applied);
    CHECK(one.ended() == gate_end::ready);
  }
}

TEST_CASE("at the deadline its owner applies the policy, another replica a little later") {
  pending mine;
  pending others{false};
  CHECK(others.waits_for(30s));
  mine.now = others.now += 30s;
  CHECK(mine.writes() == gate_verdict::timed_out);
  CHECK(others.waits_for(2s));
  others.now += 2s;
  CHECK(others.writes() == gate_verdict::timed_out);
  mine.answer(write_answer::applied);
  CHECK(mine.ended() == gate_end::timed_out);
}

TEST_CASE("what is ready at the deadline is too late") {
  pending one;
  one.now += 30s;
  one.see(pending_reading::ready);
  CHECK(one.writes() == gate_verdict::timed_out);
}

TEST_CASE("a pass that was seen in time is written after the deadline, too, if not much") {
  pending one;
  one.now += 29s;
  one.see(pending_reading::ready);
  CHECK(one.writes() == gate_verdict::passed);
  one.now += 2s;
  one.answer(write_answer::not_applied);
  CHECK(one.waits_for(10ms));
  one.now += 10ms;
  CHECK(one.writes() == gate_verdict::passed);
  one.now += 1s;
  one.answer(write_answer::refused);
  one.now += 1s;
  CHECK(one.writes() == gate_verdict::timed_out);
}

TEST_CASE("the game's own word that it failed ends the wait at once") {
  pending one;
  one.see(pending_reading::failed);
  CHECK(one.writes() == gate_verdict::failed);
  one.answer(write_answer::applied);
  CHECK(one.ended() == gate_end::failed);
}

TEST_CASE("a server that dies, goes, or is taken away ends the wait without a write") {
  pending dead;
  dead.see(pending_reading::over);
  CHECK(dead.ended() == gate_end::gone);
  pending deleted;
  deleted.fsm.erased();
  CHECK(deleted.ended() == gate_end::gone);
  pending late;
  late.now += 31s;
  late.see(pending_reading::over);  // another replica's policy, most likely
  CHECK(late.ended() == gate_end::timed_out);
}

TEST_CASE("a server that dies while it is being handed over is gone, whatever the write's answer") {
  pending one;
  one.see(pending_reading::ready);
  CHECK(one.writes() == gate_verdict::passed);
  one.see(pending_reading::over);
  CHECK(one.ended() == gate_end::gone);
  one.answer(write_answer::gone);
  CHECK(one.ended() == gate_end::gone);
}

TEST_CASE("the SDK's Allocate is as good as the answer, and its traces are cleared") {
  pending one;
  one.see(pending_reading::allocated);
  CHECK(one.writes() == gate_verdict::passed);
}

TEST_CASE("a server that the sidecar has returned is cleared of its traces") {
  pending one{false};
  one.now += 3s;
  one.see(pending_reading::returned);
  CHECK(one.waits_for(2s));
  one.now += 2s;
  CHECK(one.writes() == gate_verdict::tidied);
  one.answer(write_answer::applied);
  CHECK(one.ended() == gate_end::gone);
}

TEST_CASE("after a conflict the server is read, and decided on anew") {
  pending one;
  one.see(pending_reading::ready);
  CHECK(one.writes() == gate_verdict::passed);
  one.answer(write_answer::conflict);
  CHECK(one.next().step == gate_step::read);
  CHECK(one.next().step == gate_step::wait);
  SUBCASE("the game had written something") {
    one.see(pending_reading::ready);
    one.fsm.read_done(true, one.now, 0.0);
    CHECK(one.writes() == gate_verdict::passed);
    one.answer(write_answer::applied);
    CHECK(one.ended() == gate_end::ready);
  }
  SUBCASE("another replica was faster") {
    one.fsm.observed_passed();
    one.fsm.read_done(true, one.now, 0.0);
    CHECK(one.ended() == gate_end::ready);
  }
  SUBCASE("it is gone") {
    one.fsm.erased();
    CHECK(one.ended() == gate_end::gone);
  }
  SUBCASE("it cannot be read") {
    one.fsm.read_done(false, one.now, 0.0);
    CHECK(one.waits_for(10ms));
    one.now += 10ms;
    CHECK(one.next().step == gate_step::read);
  }
}

TEST_CASE("conflicts in a row become slower") {
  pending one;
  one.see(pending_reading::ready);
  for (int i = 0; i < 3; ++i) {
    CHECK(one.writes() == gate_verdict::passed);
    one.answer(write_answer::conflict);
    CHECK(one.next().step == gate_step::read);
    one.fsm.read_done(true, one.now, 0.0);
  }
  CHECK(one.writes() == gate_verdict::passed);
  one.answer(write_answer::conflict);
  CHECK(one.next().step == gate_step::read);
  one.fsm.read_done(true, one.now, 0.0);
  auto const action = one.next();
  CHECK(action.step == gate_step::wait);
  CHECK(action.until > one.now);
}

TEST_CASE("a write whose answer was lost is looked for") {
  pending one;
  one.see(pending_reading::ready);
  CHECK(one.writes() == gate_verdict::passed);
  one.answer(write_answer::unknown);
  CHECK(one.waits_for(10ms));
  one.now += 10ms;
  CHECK(one.next().step == gate_step::read);
  SUBCASE("and was made") {
    one.fsm.observed_passed();
    CHECK(one.ended() == gate_end::ready);
  }
  SUBCASE("and was not") {
    one.see(pending_reading::ready);
    one.fsm.read_done(true, one.now, 0.0);
    CHECK(one.writes() == gate_verdict::passed);
  }
}

TEST_CASE("an abandoned server is not kept until its deadline, whoever owns it") {
  for (bool const mine : {true, false}) {
    pending one{mine};
    one.fsm.abandon(one.now);
    CHECK(one.writes() == gate_verdict::abandoned);
    one.answer(write_answer::applied);
    CHECK(one.ended() == gate_end::abandoned);
  }
}

TEST_CASE("what is being handed over is not abandoned") {
  pending one;
  one.see(pending_reading::ready);
  CHECK(one.writes() == gate_verdict::passed);
  one.fsm.abandon(one.now);
  one.answer(write_answer::applied);
  CHECK(one.ended() == gate_end::ready);
}

TEST_CASE("checks come a period apart, one at a time") {
  pending one{true, gate_source::http};
  CHECK(one.next().step == gate_step::probe);
  CHECK(one.waits_for(30s));  // one is under way
  one.fsm.probed(probe_answer::pending, one.now);
  CHECK(one.waits_for(250ms));  // so that those that began together do not stay together
  one.now += 250ms;
  CHECK(one.next().step == gate_step::probe);
  one.now += 2500ms;
  one.fsm.probed(probe_answer::pending, one.now);
  CHECK(one.next().step == gate_step::probe);  // late
  one.fsm.probed(probe_answer::pending, one.now);
  CHECK(one.waits_for(1s));
  one.now += 1s;
  CHECK(one.next().step == gate_step::probe);
  one.fsm.probed(probe_answer::ready, one.now);
  CHECK(one.writes() == gate_verdict::passed);
}

TEST_CASE("a replica that does not own a server begins to check it later, and more slowly") {
  pending one{false, gate_source::tcp};
  CHECK(one.waits_for(2s));
  one.now += 2s;
  CHECK(one.next().step == gate_step::probe);
  one.fsm.probed(probe_answer::pending, one.now);
  CHECK(one.waits_for(1s));
  one.now += 1s;
  CHECK(one.next().step == gate_step::probe);
  one.fsm.probed(probe_answer::pending, one.now);
  CHECK(one.waits_for(4s));
}

TEST_CASE("as many successes, or refusals, in a row are wanted as the gate says") {
  pending one{true, gate_source::http, [](gate_settings& gate) {
                gate.successes = 2;
                gate.failures = 2;
              }};
  auto const probe = [&one](probe_answer answer) {
    while (one.next().step != gate_step::probe) one.now += 250ms;
    one.fsm.probed(answer, one.now);
  };
  probe(probe_answer::ready);
  CHECK(one.fsm.verdict() == gate_verdict::none);
  probe(probe_answer::failed);
  probe(probe_answer::ready);
  probe(probe_answer::pending);
  probe(probe_answer::ready);
  probe(probe_answer::failed);
  CHECK(one.fsm.verdict() == gate_verdict::none);
  SUBCASE("ready") {
    probe(probe_answer::ready);
    probe(probe_answer::ready);
    CHECK(one.writes() == gate_verdict::passed);
  }
  SUBCASE("failed") {
    probe(probe_answer::failed);
    CHECK(one.writes() == gate_verdict::failed);
  }
}

TEST_CASE("the first check waits for the initial delay") {
  pending one{true, gate_source::http, [](gate_settings& gate) { gate.initial_delay = 5s; }};
  CHECK(one.waits_for(5s));
  one.now += 5s;
  CHECK(one.next().step == gate_step::probe);
}

TEST_CASE("a webhook's call is heard at first hand, by any replica") {
  pending good{false, gate_source::webhook};
  good.fsm.called(true, good.now);
  CHECK(good.writes() == gate_verdict::passed);
  pending bad{false, gate_source::webhook};
  bad.fsm.called(false, bad.now);
  CHECK(bad.writes() == gate_verdict::failed);
  pending late{true, gate_source::webhook};
  late.now += 30s;
  late.fsm.called(true, late.now);
  CHECK(late.writes() == gate_verdict::timed_out);
}

TEST_CASE("what comes after the end changes nothing") {
  pending one;
  one.fsm.erased();
  one.see(pending_reading::ready);
  one.fsm.called(true, one.now);
  one.fsm.abandon(one.now);
  one.fsm.observed_passed();
  one.answer(write_answer::applied);
  one.fsm.read_done(true, one.now, 0.0);
  one.fsm.probed(probe_answer::ready, one.now);
  CHECK(one.ended() == gate_end::gone);
}
