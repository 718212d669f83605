#include <agones_alloc/json/write_event.hpp>

#include <doctest/doctest.h>

#include <chrono>

using namespace agones_alloc;

TEST_CASE("an Event is written as core v1 has it, in the server's namespace") {
  kubernetes_event event;
  event.name = "a.1";
  event.about = {"games", "a"};
  event.uid = "u";
  event.resource_version = "7";
  event.reason = "Allocated";
  event.message = "line 1\n\"2\"";
  event.component = "me";
  event.first = timestamp{std::chrono::seconds{1'700'000'000}};
  event.last = event.first + std::chrono::seconds{5};
  event.count = 3;
  CHECK(to_json(event) ==
        R"({"kind":"Event","apiVersion":"v1","metadata":{"name":"a.1","namespace":"games"},"involvedObject":{"kind":"GameServer",)"
        R"("namespace":"games","name":"a","uid":"u","apiVersion":"agones.dev/v1","resourceVersion":"7"},"reason":"Allocated",)"
        R"("message":"line 1\n\"2\"","source":{"component":"me"},"firstTimestamp":"2023-11-14T22:13:20Z",)"
        R"("lastTimestamp":"2023-11-14T22:13:25Z","count":3,"type":"Normal","reportingComponent":"me","reportingInstance":""})");
  CHECK(count_patch(event) == R"({"count":3,"lastTimestamp":"2023-11-14T22:13:25Z","message":"line 1\n\"2\""})");
  event.warning = true;
  event.about.namespace_ = "";
  CHECK(to_json(event).find(R"("namespace":"default")") != std::string::npos);
  CHECK(to_json(event).find(R"("type":"Warning")") != std::string::npos);
}
