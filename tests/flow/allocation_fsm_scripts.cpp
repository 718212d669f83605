// Scripts of whole allocations, replayed with trouble before every event.
#include "../support/fsm_world.hpp"

#include <doctest/doctest.h>
#include <range/v3/view/cartesian_product.hpp>
#include <range/v3/view/iota.hpp>

#include <array>
#include <string>

using namespace test_support;

namespace {

using choice = fsm_script::choice;

struct named_script {
  char const* name;
  fsm_script script;
  outcome ends;
};

auto scripts() -> std::vector<named_script> {
  using w = write_answer;
  return {
      {"straight", {}, outcome::allocated},
      {"nothing there", {{choice::none}, {w::applied}, false, 0}, outcome::exhausted},
      {"busy, then free", {{choice::busy, choice::busy, choice::picked}, {w::applied}, false, 0}, outcome::allocated},
      {"busy, then none", {{choice::busy, choice::none}, {w::applied}, false, 0}, outcome::exhausted},
      {"one conflict", {{choice::picked}, {w::conflict, w::applied}, false, 0}, outcome::allocated},
      {"always conflict", {{choice::picked}, {w::conflict}, false, 0}, outcome::contention},
      {"always unreachable", {{choice::picked}, {w::not_applied}, false, 0}, outcome::unavailable},
      {"gone, then fine", {{choice::picked}, {w::gone, w::applied}, false, 0}, outcome::allocated},
      {"gone, then none", {{choice::picked, choice::none}, {w::gone}, false, 0}, outcome::exhausted},
      {"refused", {{choice::picked}, {w::refused}, false, 0}, outcome::refused},
      {"lost, applied", {{choice::picked}, {w::unknown}, true, 0}, outcome::allocated},
      {"lost, not applied, then fine", {{choice::picked}, {w::unknown, w::applied}, false, 0}, outcome::allocated},
      {"lost, applied, two reads fail", {{choice::picked}, {w::unknown}, true, 2}, outcome::allocated},
      {"lost, applied, many reads fail", {{choice::picked}, {w::unknown}, true, 9}, outcome::unknown},
      {"lost, not applied, many reads fail", {{choice::picked}, {w::unknown}, false, 9}, outcome::unknown},
      {"a long way", {{choice::busy, choice::picked}, {w::conflict, w::not_applied, w::unknown, w::applied}, false, 1},
       outcome::allocated},
  };
}

void check_books(fsm_world::books const& books) {
  CHECK(books.finished);
  CHECK(books.told == 1);
  CHECK(books.claims_open == 0);
  CHECK(books.wrong_put_backs == 0);
  CHECK(books.applied <= 1);
  CHECK(books.applied_untold == 0);
}

}  // namespace

TEST_CASE("every script ends as it should, undisturbed") {
  for (auto const& each : scripts()) {
    CAPTURE(each.name);
    auto const books = fsm_world{each.script}.run();
    check_books(books);
    CHECK(books.result == each.ends);
  }
}

TEST_CASE("a cancellation or a deadline before any event neither loses a server nor hands one out unsaid") {
  using kind = fsm_disturbance::kind;
  std::array const kinds{kind::cancel, kind::deadline};
  std::size_t replays = 0;
  for (auto const& each : scripts()) {
    auto const undisturbed = fsm_world{each.script}.run();
    auto const points = ranges::views::closed_iota(std::size_t{1}, undisturbed.events);
    for (auto const& [what, at] : ranges::views::cartesian_product(kinds, points)) {
      fsm_disturbance const trouble{what, at};
      CAPTURE(each.name);
      CAPTURE(trouble.before_event);
      CAPTURE(trouble.what == kind::cancel);
      auto const books = fsm_world{each.script, trouble}.run();
      check_books(books);
      if (books.result == outcome::cancelled || books.result == outcome::deadline) CHECK(books.applied == 0);
      ++replays;
    }
  }
  CHECK(replays > 100);
}

TEST_CASE("every answer in place of any other keeps the books") {
  using w = write_answer;
  std::array const all{w::applied, w::conflict, w::gone, w::refused, w::not_applied, w::cancelled, w::unknown};
  std::array const either{false, true};
  for (auto const& [first, second, third, applied] : ranges::views::cartesian_product(all, all, all, either)) {
    // A lost write that was applied ends the matter: what follows is not a second write.
    fsm_script const script{{choice::picked}, {first, second, third, w::refused}, applied, 1};
    CAPTURE(static_cast<int>(script.writes[0]));
    CAPTURE(static_cast<int>(script.writes[1]));
    CAPTURE(static_cast<int>(script.writes[2]));
    CAPTURE(script.lost_write_applied);
    check_books(fsm_world{script}.run());
  }
}

TEST_CASE("cancellation before the claim never sends a write") {
  for (std::size_t at = 1; at <= 3; ++at) {
    fsm_script script{{choice::busy}, {write_answer::applied}, false, 0};
    auto const books = fsm_world{script, {fsm_disturbance::kind::cancel, at}}.run();
    CHECK(books.result == outcome::cancelled);
    CHECK(books.tries == 0);
  }
}
