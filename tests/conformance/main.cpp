// Answers every golden vector of the reference with this library and says what differs.
#include "excuses.hpp"
#include "runner.hpp"

#include <agones_alloc/json/parse.hpp>

#include <boost/json/array.hpp>

#include <algorithm>
#include <charconv>
#include <exception>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace conformance;

// Every family there is: one that nobody registered is a failure, not a silence.
constexpr std::string_view all_families[] = {"selectors", "validate", "sort",     "find",    "apply",
                                             "policies",  "convert",  "sequence", "kubeapi", "rest"};

constexpr std::string_view help_text = R"(Usage: conformance --vectors DIR [--family NAME]... [--failures N]

Answers the golden vectors of the reference allocator and compares.

  --vectors DIR    folder with selectors.json, validate.json and the others
  --family NAME    only this family (may be given several times); default: all
  --failures N     print at most N failures of each family (default 5)
  --help           this text

A difference that is meant is excused by a rule: the table is printed. Exit code: 0 when every case passed or is
excused; 1 on a failure, an unreadable file, an unknown family or when nothing ran; 2 on wrong options.
)";

struct options {
  std::string vectors;
  std::vector<std::string> families;
  std::size_t failures{5};
};

/// What to do instead of running: an exit code.
struct stop {
  int code;
};

[[noreturn]] void refuse(std::string const& message) {
  std::cerr << "conformance: " << message << " (--help tells more)\n";
  throw stop{2};
}

auto read_options(std::vector<std::string_view> const& arguments) -> options {
  options out;
  for (std::size_t i = 0; i != arguments.size(); ++i) {
    auto const name = arguments[i];
    if (name == "--help" || name == "-h") {
      std::cout << help_text;
      throw stop{0};
    }
    if (name != "--vectors" && name != "--family" && name != "--failures") {
      refuse("unknown option " + std::string{name});
    }
    if (++i == arguments.size()) refuse(std::string{name} + " needs a value");
    auto const value = arguments[i];
    if (name == "--vectors") {
      out.vectors = value;
    } else if (name == "--family") {
      if (std::find(std::begin(all_families), std::end(all_families), value) == std::end(all_families)) {
        refuse("--family: there is no family " + std::string{value});
      }
      out.families.emplace_back(value);
    } else {
      auto const [end, fault] = std::from_chars(value.data(), value.data() + value.size(), out.failures);
      if (fault != std::errc{} || end != value.data() + value.size()) {
        refuse("--failures: " + std::string{value} + " is no number");
      }
    }
  }
  if (out.vectors.empty()) refuse("--vectors is required");
  if (out.families.empty()) out.families.assign(std::begin(all_families), std::end(all_families));
  return out;
}

auto read_vectors(std::string const& path) -> std::optional<json::object> {
  std::ifstream file{path, std::ios::binary};
  if (!file) {
    std::cerr << "conformance: cannot open " << path << '\n';
    return std::nullopt;
  }
  std::string const text{std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
  auto const parsed = agones_alloc::parse_json(text, {.max_bytes = std::size_t{1} << 28U});
  if (!parsed) {
    std::cerr << "conformance: " << path << ": " << to_string(parsed.error()) << '\n';
    return std::nullopt;
  }
  auto const* document = parsed->if_object();
  auto const* cases = document == nullptr ? nullptr : document->if_contains("cases");
  if (cases == nullptr || !cases->is_array() || cases->get_array().empty()) {
    std::cerr << "conformance: " << path << ": no cases\n";
    return std::nullopt;
  }
  return *document;
}

void run_family(family const& which, json::object const& document, report& results) {
  for (auto const& one : document.at("cases").get_array()) {
    auto const& input = one.as_object();
    results.begin(input);
    try {
      which.run(input, results);
    } catch (std::exception const& fault) {
      results.fail("exception", fault.what());
    }
    results.end();
  }
}

void print_failures(report const& results, std::size_t limit) {
  auto const& failures = results.failures();
  for (std::size_t i = 0; i != std::min(limit, failures.size()); ++i) {
    std::cout << "\nFAILED " << failures[i].where << ": " << failures[i].text << '\n';
  }
  if (failures.size() > limit) std::cout << "\n... and " << failures.size() - limit << " more failures\n";
}

void print_row(std::string_view name, std::size_t passed, std::size_t excused, std::size_t failed) {
  std::cout << std::left << std::setw(12) << name << std::right << std::setw(8) << passed << std::setw(9) << excused
            << std::setw(8) << failed << '\n';
}

void print_excuses(std::map<std::size_t, std::size_t> const& uses) {
  std::cout << "\nexcused by rule\n"
            << std::left << std::setw(8) << "rule" << std::right << std::setw(6) << "cases"
            << "  reason\n";
  for (auto const& [rule, cases] : uses) {
    auto const& entry = excuses()[rule];
    std::cout << std::left << std::setw(8) << entry.quirk << std::right << std::setw(6) << cases << "  " << entry.reason
              << " (" << entry.families << ")\n";
  }
}

auto run(options const& wanted) -> int {
  std::vector<report> reports;
  bool sound = true;
  for (auto const& name : wanted.families) {
    auto const found = families().find(name);
    if (found == families().end()) {
      std::cerr << "conformance: no code answers the family " << name << '\n';
      sound = false;
      continue;
    }
    auto const document = read_vectors(wanted.vectors + "/" + name + ".json");
    if (!document) {
      sound = false;
      continue;
    }
    run_family(found->second, *document, reports.emplace_back(found->second.name, *document));
    print_failures(reports.back(), wanted.failures);
  }
  std::cout << '\n'
            << std::left << std::setw(12) << "family" << std::right << std::setw(8) << "passed" << std::setw(9)
            << "excused" << std::setw(8) << "failed" << '\n';
  std::size_t passed = 0;
  std::size_t excused = 0;
  std::size_t failed = 0;
  std::map<std::size_t, std::size_t> uses;
  for (auto const& results : reports) {
    print_row(results.family(), results.passed(), results.excused(), results.failed());
    passed += results.passed();
    excused += results.excused();
    failed += results.failed();
    for (auto const& [rule, cases] : results.uses()) uses[rule] += cases;
  }
  print_row("all", passed, excused, failed);
  if (!uses.empty()) print_excuses(uses);
  return sound && failed == 0 && passed + excused != 0 ? 0 : 1;
}

}  // namespace

auto main(int argc, char** argv) -> int {
  try {
    return run(read_options({argv + 1, argv + argc}));
  } catch (stop const& asked) {
    return asked.code;
  } catch (std::exception const& fault) {
    std::cerr << "conformance: " << fault.what() << '\n';
    return 1;
  }
}
