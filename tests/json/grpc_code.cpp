#include "reading.hpp"

#include <agones_alloc/json/grpc_code.hpp>

#include <doctest/doctest.h>

using namespace agones_alloc;
using json_tests::error_of;
using json_tests::parsed;

TEST_CASE("every gRPC code has the gateway's HTTP status") {
  int const wanted[] = {200, 499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401};
  for (int code = 0; code < 17; ++code) CHECK(http_status_of(static_cast<grpc_code>(code)) == wanted[code]);
  CHECK(http_status_of(static_cast<grpc_code>(422)) == 500);
}

TEST_CASE("codes have their canonical names") {
  CHECK(to_string(grpc_code::ok) == "OK");
  CHECK(to_string(grpc_code::cancelled) == "Canceled");
  CHECK(to_string(grpc_code::resource_exhausted) == "ResourceExhausted");
  CHECK(to_string(static_cast<grpc_code>(422)) == "Code(422)");
}

TEST_CASE("the unallocated status maps back to a code, unknown ones to ResourceExhausted") {
  for (int const status : {200, 400, 401, 403, 404, 429, 499, 500, 501, 503, 504}) {
    CAPTURE(status);
    CHECK(unallocated_code_for(status).known);
    CHECK(http_status_of(unallocated_code_for(status).code) == status);
  }
  CHECK(unallocated_code_for(409).code == grpc_code::already_exists);
  CHECK(unallocated_code_for(418).code == grpc_code::resource_exhausted);
  CHECK_FALSE(unallocated_code_for(418).known);
}

TEST_CASE("a state means a code and a message") {
  CHECK(grpc_status_of_state("Allocated").code == grpc_code::ok);
  CHECK(grpc_status_of_state("UnAllocated") ==
        grpc_status{grpc_code::resource_exhausted, "there is no available GameServer to allocate"});
  CHECK(grpc_status_of_state("UnAllocated", grpc_code::ok) == grpc_status{});
  CHECK(grpc_status_of_state("UnAllocated", grpc_code::not_found).code == grpc_code::not_found);
  CHECK(grpc_status_of_state("Contention") ==
        grpc_status{grpc_code::aborted, "too many concurrent requests have overwhelmed the system"});
  CHECK(grpc_status_of_state("allocated") == grpc_status{grpc_code::unknown, "unknown issue"});
}

TEST_CASE("an error body is written and read") {
  CHECK(grpc_error_body({grpc_code::invalid_argument, "bad \"x\" 100%"}) == R"({"code":3,"message":"bad \"x\" 100%","details":[]})");
  CHECK(read_grpc_error(parsed(R"({"code":8,"message":"m","details":[{"@type":"x"}]})")).value() ==
        grpc_status{grpc_code::resource_exhausted, "m"});
  CHECK(read_grpc_error(parsed("{}"))->code == grpc_code::unknown);
  CHECK(error_of(read_grpc_error(parsed(R"({"code":"x"})"))) == "code: expected a 32-bit integer, got \"x\"");
}
