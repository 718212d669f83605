#include "reading.hpp"

#include <agones_alloc/json/list_page.hpp>
#include <agones_alloc/json/watch_reader.hpp>

#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace agones_alloc;
using json_tests::parsed;

namespace {

auto event_error(std::string_view text) -> std::string {
  auto const value = parsed(text);
  return json_tests::error_of(read_watch_event(value));
}

}  // namespace

TEST_CASE("events come in order, and the reader remembers how far it got") {
  std::string_view body = R"({"type":"ADDED","object":{"metadata":{"resourceVersion":"7","name":"a"},"spec":{}}}
{"type":"MODIFIED","object":{"metadata":{"resourceVersion":"8"}}}
{"type":"DELETED","object":{"metadata":{"resourceVersion":"9"}}}
{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"20","annotations":{"k8s.io/initial-events-end":"true"}}}}
{"type":"ERROR","object":{"kind":"Status","code":410}}
)";
  watch_reader reader{"5"};
  CHECK(reader.resource_version() == "5");
  auto const next = [&] {
    auto const event = reader.next(body);
    REQUIRE(event.has_value());
    REQUIRE(*event != nullptr);
    return **event;
  };
  auto const added = next();
  CHECK(added.what == watch_event::kind::added);
  CHECK(boost::json::serialize(*added.object) == R"({"metadata":{"resourceVersion":"7","name":"a"}})");
  CHECK(reader.resource_version() == "7");
  CHECK(next().what == watch_event::kind::modified);
  CHECK(next().what == watch_event::kind::deleted);
  CHECK(reader.resource_version() == "9");
  auto const mark = next();
  CHECK(mark.what == watch_event::kind::bookmark);
  CHECK(mark.initial_events_end);
  CHECK(reader.resource_version() == "20");
  CHECK(next().what == watch_event::kind::error);
  CHECK(reader.resource_version() == "20");
  CHECK(*reader.next(body) == nullptr);
  CHECK_FALSE(reader.pending());
}

TEST_CASE("what is no event is refused, naming the field") {
  CHECK(event_error(R"({"type":"SYNC","object":{}})") == "type: unknown kind of event \"SYNC\"");
  CHECK(event_error(R"({"object":{}})") == "type: unknown kind of event \"\"");
  CHECK(event_error(R"([])") == "type: unknown kind of event \"\"");
  CHECK(event_error(R"({"type":"ADDED"})") == "object: expected an object");
  CHECK(event_error(R"({"type":"ERROR","object":"gone"})") == "object: expected an object");
  CHECK(event_error(R"({"type":"ADDED","object":{"metadata":{"resourceVersion":7}}})") ==
        "object.metadata.resourceVersion: expected a text that is not empty");
  CHECK(event_error(R"({"type":"BOOKMARK","object":{"metadata":[]}})") ==
        "object.metadata.resourceVersion: expected a text that is not empty");
}

TEST_CASE("a page tells its items, its version and how to go on") {
  auto const value = parsed(R"({"metadata":{"resourceVersion":"9","continue":"x","remainingItemCount":3},"items":[{},1]})");
  auto const page = read_list_page(value);
  REQUIRE(page.has_value());
  CHECK(page->items->size() == 2);
  CHECK(page->resource_version == "9");
  CHECK(page->continue_token == "x");
  auto const last = parsed(R"({"metadata":{"resourceVersion":"9"},"items":null})");
  CHECK(read_list_page(last)->items->empty());
  CHECK(read_list_page(last)->continue_token.empty());
  CHECK(json_tests::error_of(read_list_page(parsed("{}"))) == "items: expected an array");
  CHECK(json_tests::error_of(read_list_page(parsed(R"({"items":[]})"))) ==
        "metadata.resourceVersion: expected a text that is not empty");
}

TEST_CASE("who an object is can be told whatever the rest of it") {
  auto const meta = read_identity(parsed(R"({"metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"3","labels":7}})"));
  CHECK(to_string(key_of(meta)) == "n/a");
  CHECK(meta.uid == "u");
  CHECK(meta.resource_version == "3");
  CHECK(to_string(key_of(read_identity(parsed(R"({"metadata":{"name":5}})")))).empty());
  CHECK(to_string(key_of(read_identity(parsed("[]")))).empty());
}
