#include "reading.hpp"

#include <agones_alloc/json/quantity.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace agones_alloc;
using json_tests::parsed;

TEST_CASE("Kubernetes quantities are accepted") {
  for (std::string_view const text : {"0", "20m", "64Mi", "1.5", "1.", ".5", "+1", "-1", "1e3", "1E3", "1e-3", "12E", "1Ki", "100k",
                                      "5n", "7u", "0.5Gi", "1T", "2P", "3Ei", "1E+2"}) {
    CAPTURE(text);
    CHECK_FALSE(quantity_problem(text).has_value());
  }
}

TEST_CASE("other texts are no quantities") {
  for (std::string_view const text : {"", "m", "Mi", "20x", "64MiB", "64 Mi", " 1", "1 ", "1.5.2", "--1", "1e", "1e+", "1e1.5", "1mm",
                                      "1K", "0x10", "1,5", "1e9999999999", ".", "-", "one", "1ki"}) {
    CAPTURE(text);
    CHECK(quantity_problem(text).has_value());
  }
}

TEST_CASE("a bad quantity in a pod template is named with its path") {
  auto const problem = [](std::string_view resources) {
    auto const text = R"({"template":{"spec":{"containers":[{"name":"a"},{"resources":)" + std::string{resources} + "}]}}}";
    auto const error = check_pod_quantities(parsed(text), "spec.template.spec");
    return error ? to_string(*error) : std::string{};
  };
  CHECK(problem(R"({"requests":{"memory":"64Mi","cpu":"20m"},"limits":{"cpu":1,"memory":1.5e9}})").empty());
  CHECK(problem(R"({"requests":{"cpu":null}})").empty());
  CHECK(problem(R"({"requests":{"memory":"64Mib"}})") ==
        "spec.template.spec.template.spec.containers[1].resources.requests[memory]: invalid quantity \"64Mib\": unknown unit "
        "\"Mib\", expected n u m k M G T P E, Ki Mi Gi Ti Pi Ei or an exponent");
  CHECK(problem(R"({"limits":{"cpu":"-1"}})").ends_with("limits[cpu]: must not be negative"));
  CHECK(problem(R"({"limits":{"cpu":-1}})").ends_with("limits[cpu]: must not be negative"));
  CHECK(problem(R"({"limits":{"cpu":"-0"}})").empty());
  CHECK(problem(R"({"limits":{"cpu":{}}})").ends_with("expected a quantity such as 500m or 64Mi"));
}

TEST_CASE("init containers and emptyDir sizes are checked too") {
  auto const init = check_pod_quantities(
      parsed(R"({"template":{"spec":{"initContainers":[{"resources":{"limits":{"cpu":"x"}}}]}}})"), "spec");
  REQUIRE(init.has_value());
  CHECK(init->field == "spec.template.spec.initContainers[0].resources.limits[cpu]");
  auto const volume =
      check_pod_quantities(parsed(R"({"template":{"spec":{"volumes":[{},{"emptyDir":{"sizeLimit":"1Gib"}}]}}})"), "spec");
  REQUIRE(volume.has_value());
  CHECK(volume->field == "spec.template.spec.volumes[1].emptyDir.sizeLimit");
}

TEST_CASE("a pod template of another shape is not ours to judge") {
  for (std::string_view const text : {"{}", "[]", "null", R"({"template":5})", R"({"template":{"spec":{"containers":{}}}})",
                                      R"({"template":{"spec":{"containers":[5,{"resources":[]}]}}})"}) {
    CAPTURE(text);
    CHECK_FALSE(check_pod_quantities(parsed(text), "spec").has_value());
  }
}
