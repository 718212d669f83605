// What a family of golden vectors is, and where its answers are compared and counted.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace conformance {

namespace json = boost::json;

/// One answer of one case: what the reference gave and what we give.
struct answer {
  std::string_view family;
  std::string_view part;         ///< which answer of the case: "matches", "errors", ...
  json::object const& input;     ///< the whole case as it stands in the vectors
  json::object const& document;  ///< the whole file: header fields with tables
  json::value expected;
  json::value actual;
};

/// The results of one family.
class report {
 public:
  report(std::string_view family, json::object const& document) : family_{family}, document_{&document} {}

  /// Every case: begin, any number of `expect` and `fail`, end. An exception that leaves the case is a failure of it.
  void begin(json::object const& input);
  /// Equal as JSON (key order aside), or as a rule of the excuse table says it should be (excuses.hpp).
  void expect(std::string_view part, json::value expected, json::value actual);
  /// A failure that is no comparison.
  void fail(std::string_view part, std::string message);
  void end();

  struct failure {
    std::string where;  ///< `family #id part`
    std::string text;
  };
  auto family() const noexcept -> std::string_view { return family_; }
  auto passed() const noexcept -> std::size_t { return passed_; }
  auto failed() const noexcept -> std::size_t { return failed_; }
  auto excused() const noexcept -> std::size_t { return excused_; }
  auto failures() const noexcept -> std::vector<failure> const& { return failures_; }
  /// Cases by the index of the rule that excused them.
  auto uses() const noexcept -> std::map<std::size_t, std::size_t> const& { return uses_; }

 private:
  std::string_view family_;
  json::object const* document_;
  json::object const* input_{nullptr};
  bool case_failed_{false};
  std::vector<std::size_t> case_rules_;
  std::size_t passed_{0};
  std::size_t failed_{0};
  std::size_t excused_{0};
  std::vector<failure> failures_;
  std::map<std::size_t, std::size_t> uses_;
};

/// `run` answers one case; it is called between begin and end, and may throw.
using run_case = void (*)(json::object const& input, report&);

struct family {
  std::string_view name;
  run_case run;
};

/// All registered families, by name.
auto families() -> std::map<std::string_view, family>&;

/// Register with a static object: `conformance::registration const rest{"rest", &run_rest};`.
struct registration {
  registration(std::string_view name, run_case run) { families().emplace(name, family{name, run}); }
};

/// Where two values part: `spec.selectors[0].lists: 3 instead of 4`; "" when they are equal.
auto first_difference(json::value const& expected, json::value const& actual) -> std::string;

}  // namespace conformance
