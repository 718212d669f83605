#include <agones_alloc/embedded/fleet_simulator.hpp>
#include <agones_alloc/embedded/ipv4.hpp>
#include <agones_alloc/embedded/simulator_options.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace agones_alloc;

TEST_CASE("the default options are valid") { CHECK(validate(simulator_options{}).empty()); }

TEST_CASE("each option out of its range is named") {
  using options = simulator_options;
  std::vector<std::pair<std::string, std::function<void(options&)>>> const table{
      {"max_nodes", [](options& o) { o.max_nodes = 0, o.node_count = 1; }},
      {"max_nodes", [](options& o) { o.max_nodes = 100'001; }},
      {"node_count", [](options& o) { o.node_count = 0; }},
      {"node_count", [](options& o) { o.node_count = 11, o.max_nodes = 10; }},
      {"node_capacity", [](options& o) { o.node_capacity = 0; }},
      {"node_prefix", [](options& o) { o.node_prefix = ""; }},
      {"node_prefix", [](options& o) { o.node_prefix = "Node "; }},
      {"first_address", [](options& o) { o.first_address = "10.0.0"; }},
      {"first_address", [](options& o) { o.first_address = "255.255.255.0"; }},
      {"min_port", [](options& o) { o.min_port = 0; }},
      {"max_port", [](options& o) { o.max_port = 6999; }},
      {"max_port", [](options& o) { o.max_port = 70000; }},
      {"settings.start_up",
       [](options& o) {
         o.settings.start_up = {std::chrono::seconds{2}, std::chrono::seconds{1}};
       }},
      {"settings.session_length",
       [](options& o) {
         o.settings.session_length = duration_range{std::chrono::seconds{-1}, {}};
       }},
      {"settings.shut_down",
       [](options& o) {
         o.settings.shut_down = {{}, std::chrono::nanoseconds::max()};
       }},
      {"settings.start_failure", [](options& o) { o.settings.start_failure = 1.1; }},
      {"settings.start_failure",
       [](options& o) { o.settings.start_failure = std::numeric_limits<double>::quiet_NaN(); }},
      {"speed", [](options& o) { o.speed = 0; }},
      {"speed", [](options& o) { o.speed = std::numeric_limits<double>::quiet_NaN(); }},
      {"speed", [](options& o) { o.speed = 1e7; }},
      {"max_servers", [](options& o) { o.max_servers = 0; }},
  };
  for (auto const& each : table) {
    CAPTURE(each.first);
    auto const& [field, change] = each;
    options o;
    change(o);
    auto const errors = validate(o);
    REQUIRE(errors.size() == 1);
    CHECK(errors[0].field == field);
    CHECK_THROWS_AS(fleet_simulator{o}, std::invalid_argument);
  }
}

TEST_CASE("all options out of range are named at once") {
  simulator_options o;
  o.speed = -1;
  o.node_capacity = 0;
  CHECK(to_string(validate(o)) ==
        "[node_capacity: Invalid value: 0: must be between 1 and 10000, speed: Invalid value: -1.000000: must be above "
        "0 and at most 1000000]");
}

TEST_CASE("IPv4 addresses are read and written") {
  CHECK(parse_ipv4("10.0.0.1") == std::optional<std::uint32_t>{0x0a000001});
  CHECK(ipv4_text(0x0a000001 + 255) == "10.0.1.0");
  for (std::string const text :
       {"", "1", "1.2.3", "1.2.3.4.5", "1.2.3.256", "1.2.3.", ".1.2.3", "1.2.3.4 ", "a.b.c.d", "1.2.3.0004", "::1"}) {
    CAPTURE(text);
    CHECK(!parse_ipv4(text).has_value());
  }
}
