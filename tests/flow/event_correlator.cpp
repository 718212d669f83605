#include <agones_alloc/flow/event_correlator.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <string>

using namespace agones_alloc;
using namespace std::chrono_literals;
using action = event_decision::action;

namespace {

constexpr event_note::wall_time start{1'700'000'000s};

auto note(std::string_view name, std::string message, event_note::wall_time at = start, std::string_view reason = "Allocated")
    -> event_note {
  event_note out;
  out.about = {"default", name};
  out.uid = std::string{name} + "-uid";
  out.reason = reason;
  out.message = std::move(message);
  out.at = at;
  return out;
}

}  // namespace

TEST_CASE("equal notes are one event with a count, which keeps its name and first time") {
  event_correlator correlate;
  auto const first = correlate.take(note("a", "Allocated"));
  CHECK(first.what == action::create);
  CHECK(first.count == 1);
  CHECK(first.name == "a.17979cfe362a0000");
  auto const second = correlate.take(note("a", "Allocated", start + 5s));
  CHECK(second.what == action::count);
  CHECK(second.count == 2);
  CHECK(second.name == first.name);
  CHECK(second.first == start);
  CHECK(second.last == start + 5s);
}

TEST_CASE("another object, uid, type, reason or message is another event with a name of its own") {
  event_correlator correlate;
  auto const base = note("a", "m");
  CHECK(correlate.take(base).what == action::create);
  auto other_object = note("b", "m");
  auto recreated = base;
  recreated.uid = "new";
  auto warning = base;
  warning.warning = true;
  auto const other_reason = note("a", "m", start, "Other");
  auto const other_message = note("a", "n");
  std::set<std::string> names;
  for (auto const& one : {other_object, recreated, warning, other_reason, other_message}) {
    auto const made = correlate.take(one);
    CHECK(made.what == action::create);
    CHECK(made.count == 1);
    names.insert(made.name);
  }
  CHECK(names.size() == 5);
}

TEST_CASE("many notes that differ in the message only come to share one event") {
  event_correlator correlate;
  for (int i = 0; i < 9; ++i) CHECK(correlate.take(note("a", std::to_string(i))).what == action::create);
  auto const tenth = correlate.take(note("a", "9"));
  CHECK(tenth.what == action::create);
  CHECK(tenth.message == "(combined from similar events): 9");
  auto const eleventh = correlate.take(note("a", "10"));
  CHECK(eleventh.what == action::count);
  CHECK(eleventh.name == tenth.name);
  CHECK(eleventh.count == 2);
  CHECK(eleventh.message == "(combined from similar events): 10");
  auto const later = correlate.take(note("a", "11", start + 11min));
  CHECK(later.message == "11");
}

TEST_CASE("a burst about one object is written, then one in five minutes; others are not held up") {
  event_correlator correlate;
  for (int i = 0; i < 25; ++i) CHECK(correlate.take(note("a", "m")).what != action::skip);
  for (int i = 0; i < 10; ++i) CHECK(correlate.take(note("a", "m")).what == action::skip);
  CHECK(correlate.take(note("b", "m")).what == action::create);
  CHECK(correlate.take(note("a", "m", start + 299s)).what == action::skip);
  auto const again = correlate.take(note("a", "m", start + 301s));
  CHECK(again.what == action::count);
  CHECK(again.count == 37);  // what was not written was counted
  CHECK(correlate.take(note("a", "m", start + 302s)).what == action::skip);
}

TEST_CASE("a clock that goes back neither fills nor empties a bucket") {
  event_correlator correlate{{.burst = 2}};
  CHECK(correlate.take(note("a", "m", start + 1h)).what != action::skip);
  CHECK(correlate.take(note("a", "m", start)).what != action::skip);
  CHECK(correlate.take(note("a", "m", start + 1s)).what == action::skip);
}

TEST_CASE("memory is bounded: what was used longest ago is forgotten") {
  event_correlator correlate{{.remembered = 3}};
  for (auto const* name : {"a", "b", "c", "a", "d"}) correlate.take(note(name, "m"));
  CHECK(correlate.take(note("a", "m")).count == 3);
  CHECK(correlate.take(note("b", "m")).count == 1);
}

TEST_CASE("messages and names are cut to what Kubernetes takes") {
  event_correlator correlate{{.message_bytes = 50}};
  auto const made = correlate.take(note(std::string(253, 'n'), std::string(100, 'x')));
  CHECK(made.message.size() == 50);
  CHECK(made.name.size() == 253);
  for (int i = 0; i < 9; ++i) correlate.take(note("a", std::to_string(i)));
  CHECK(correlate.take(note("a", std::string(100, 'y'))).message.size() == 50);
}
