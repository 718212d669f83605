#include "reading.hpp"

#include <agones_alloc/json/api_failure.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <string>

using namespace agones_alloc;
using namespace std::chrono_literals;

TEST_CASE("a Status tells reason, message, object, causes and when to come back") {
  auto const failure = api_failure_of(422, R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",
    "message":"invalid","reason":"Invalid","code":422,"details":{"name":"a","group":"agones.dev","kind":"GameServer",
    "retryAfterSeconds":3,"causes":[{"reason":"FieldValueInvalid","message":"immutable","field":"metadata.uid"}]}})");
  CHECK(bool{failure == api_failure{422, "Invalid", "invalid", "a", 3s, {{"FieldValueInvalid", "metadata.uid"}}}});
}

TEST_CASE("the HTTP status counts, whatever the body says") {
  CHECK(api_failure_of(503, R"({"kind":"Status","code":200,"message":"m"})").code == 503);
}

TEST_CASE("any other body becomes the message, bounded and printable") {
  CHECK(bool{api_failure_of(502, "<html>\nBad\tgateway</html>\n") == api_failure{502, "", "<html> Bad gateway</html>", "", 0s, {}}});
  CHECK(api_failure_of(500, std::string(5000, 'x')).message.size() == 512);
  CHECK(api_failure_of(500, R"({"kind":"Pod"})").message == R"({"kind":"Pod"})");
  CHECK(api_failure_of(500, R"({"kind":"Status","message":7})").reason.empty());
  CHECK(api_failure_of(500, "").message.empty());
  CHECK(api_failure_of(500, "[]").message == "[]");
}

TEST_CASE("causes are bounded, and a negative wait is none") {
  std::string causes;
  for (int i = 0; i < 100; ++i) causes += std::string(i == 0 ? "" : ",") + R"({"field":"f"})";
  auto const failure = api_failure_of(422, R"({"kind":"Status","details":{"retryAfterSeconds":-5,"causes":[)" + causes + "]}}");
  CHECK(failure.causes.size() == 64);
  CHECK(failure.retry_after == 0s);
}
