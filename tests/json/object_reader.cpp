#include "reading.hpp"

#include <agones_alloc/json/object_reader.hpp>

#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

using namespace agones_alloc;

namespace {

/// All documents of the text, fed in chunks of that many bytes; the last entry is the error, if there was one.
auto documents(std::string_view text, object_reader_options const& options = {}, std::size_t step = std::string::npos)
    -> std::vector<std::string> {
  object_reader reader{options};
  std::vector<std::string> out;
  while (!text.empty()) {
    auto chunk = text.substr(0, step);
    text.remove_prefix(chunk.size());
    while (true) {
      auto const next = reader.next(chunk);
      if (!next) {
        out.push_back("error: " + next.error().message);
        CHECK(bool{reader.next(chunk).error() == next.error()});
        return out;
      }
      if (*next == nullptr) break;
      out.push_back(boost::json::serialize(**next));
    }
    CHECK(chunk.empty());
  }
  if (reader.pending()) out.emplace_back("pending");
  return out;
}

using lines = std::vector<std::string>;

}  // namespace

TEST_CASE("documents are found wherever the chunks break") {
  std::string const text = " {\"a\":[1,2.5,-3,true,null,\"\\u00e4\xc3\xa4\"]}\n\n[{}]\n{\"b\":18446744073709551615}\n";
  auto const whole = documents(text);
  REQUIRE(whole.size() == 3);
  CHECK(whole[1] == "[{}]");
  CHECK(whole[2] == R"({"b":18446744073709551615})");
  for (std::size_t step = 1; step < text.size(); ++step) {
    CAPTURE(step);
    CHECK(documents(text, {}, step) == whole);
  }
}

TEST_CASE("spec and managedFields of an object are left out, and only those") {
  std::string const object = R"({"spec":{"spec":[1,{"managedFields":2}]},"metadata":{"name":"a","managedFields":[{"f":{}}],)"
                             R"("annotations":{"spec":"kept","managedFields":"kept"}},"status":{"spec":1,"managedFields":2},"x":[{"spec":3}]})";
  std::string const pruned = R"({"metadata":{"name":"a","annotations":{"spec":"kept","managedFields":"kept"}},)"
                             R"("status":{"spec":1,"managedFields":2},"x":[{"spec":3}]})";
  std::string const in_event = R"({"type":"ADDED","spec":1,"object":)";
  std::string const in_list = R"({"spec":1,"metadata":{"managedFields":1},"items":[)";
  for (std::size_t step = 1; step < 40; ++step) {
    CAPTURE(step);
    CHECK(documents(object, {}, step) == lines{pruned});
    CHECK(documents(in_event + object + "}", {.place = object_place::event}, step) == lines{in_event + pruned + "}"});
    CHECK(documents(in_list + object + "," + object + "]}", {.place = object_place::list}, step) ==
          lines{in_list + pruned + "," + pruned + "]}"});
  }
}

TEST_CASE("spec and owners are kept on request") {
  CHECK(documents(R"({"metadata":{"ownerReferences":[{"name":"o"}],"name":"a"},"ownerReferences":1})") ==
        lines{R"({"metadata":{"name":"a"},"ownerReferences":1})"});
  CHECK(documents(R"({"metadata":{"ownerReferences":[]}})", {.keep_spec = true}) == lines{R"({"metadata":{"ownerReferences":[]}})"});
  CHECK(documents(R"({"spec":{"a":1},"metadata":{"managedFields":[]}})", {.keep_spec = true}) ==
        lines{R"({"spec":{"a":1},"metadata":{}})"});
}

TEST_CASE("values of every type can be left out, and what follows is read") {
  for (std::string const value : {"1", "-1.5e3", "\"text\"", "true", "null", "[]", "{}", "[[1],{\"a\":[{}]}]", "18446744073709551615"}) {
    CAPTURE(value);
    for (std::size_t step = 1; step < 12; ++step) {
      CHECK(documents(R"({"a":1,"spec":)" + value + R"(,"spec":)" + value + R"(,"b":2}{"c":3})", {}, step) ==
            lines{R"({"a":1,"b":2})", R"({"c":3})"});
    }
  }
}

TEST_CASE("a document over the bound is refused as soon as it is") {
  std::string const text = R"({"a":")" + std::string(100, 'x') + R"("})";
  CHECK(documents(text, {.max_bytes = text.size()}).size() == 1);
  CHECK(documents(text + text, {.max_bytes = text.size()}, 7).size() == 2);
  for (std::size_t const step : {1U, 13U, 1000U}) {
    CHECK(documents(text, {.max_bytes = text.size() - 1}, step) ==
          lines{"error: a document of more than 107 bytes, the most that is accepted"});
  }
}

TEST_CASE("depth is bounded, also of what is left out") {
  std::string const deep = std::string(10, '[') + std::string(10, ']');
  CHECK(documents(R"({"spec":)" + deep + "}", {.max_depth = 11}) == lines{"{}"});
  CHECK(documents(R"({"spec":)" + deep + "}", {.max_depth = 10}) == lines{"error: nested deeper than 10 levels"});
}

TEST_CASE("what is no JSON is refused after the documents before it") {
  for (std::string const text : {"}", "{]", "{\"a\"}", "nul ", "{\"spec\":tru}", "{\"a\":\"\xff\"}", "\x01"}) {
    CAPTURE(text);
    auto const found = documents("{}" + text);
    REQUIRE(found.size() == 2);
    CHECK(found[0] == "{}");
    CHECK(found[1].substr(0, 20) == "error: invalid JSON:");
  }
  CHECK(documents("{}  {\"a\":") == lines{"{}", "pending"});
}
