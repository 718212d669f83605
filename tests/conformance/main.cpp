// Answers every golden vector of the reference with this library and says what differs.
#include "excuses.hpp"
#include "runner.hpp"

#include <agones_alloc/json/parse.hpp>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <charconv>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace {

using namespace conformance;

// Every family there is: one that nobody registered is a failure, not a silence.
constexpr std::string_view all_families[] = {"selectors", "validate", "sort",     "find",    "apply",
                                             "policies",  "convert",  "sequence", "kubeapi", "rest"};

constexpr std::string_view help_text = R"(Usage: conformance [--vectors DIR] [--family NAME]... [--failures N] [--list-excused]

Answers the golden vectors of the reference allocator and compares.

  --vectors DIR    folder with selectors.json, validate.json and the others; default: tests/conformance/data of the
                   source tree that this program, or the current folder, is in
  --family NAME    only this family (may be given several times); default: all
  --list-excused   print which cases each rule excuses, as family #id
  --failures N     print at most N failures of each family (default 5)
  --help           this text

A difference that is meant is excused by a rule: the table is printed. Exit code: 0 when every case passed or is
excused; 1 on a failure, an unreadable file, an unknown family or when nothing ran; 2 on wrong options.
)";

struct options {
  std::string vectors;
  std::vector<std::string> families;
  std::size_t failures{5};
  bool list_excused{false};
};

/// Cases by the index of the rule that excused them.
using excused_cases = std::map<std::size_t, std::vector<std::string>>;

/// What to do instead of running: an exit code.
struct stop {
  int code;
};

[[noreturn]] void refuse(std::string const& message) {
  std::cerr << "conformance: " << message << " (--help tells more)\n";
  throw stop{2};
}

/// The project's own vectors: seen from the program, which is in a build folder of the tree, or from here. "" where there are none.
auto own_vectors() -> std::string {
  namespace fs = std::filesystem;
  std::error_code fault;
  for (auto const& start : {fs::read_symlink("/proc/self/exe", fault).parent_path(), fs::current_path(fault)}) {
    for (auto at = start; !at.empty(); at = at.parent_path()) {
      auto const folder = at / "tests/conformance/data";
      if (fs::is_directory(folder, fault)) return folder.string();
      if (at == at.parent_path()) break;
    }
  }
  return {};
}

auto read_options(std::vector<std::string_view> const& arguments) -> options {
  options out;
  for (std::size_t i = 0; i != arguments.size(); ++i) {
    auto const name = arguments[i];
    if (name == "--help" || name == "-h") {
      std::cout << help_text;
      throw stop{0};
    }
    if (name == "--list-excused") {
      out.list_excused = true;
      continue;
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
  if (out.vectors.empty()) out.vectors = own_vectors();
  if (out.vectors.empty()) refuse("--vectors is required: there is no tests/conformance/data above the program or here");
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

auto name_of(std::string_view family, json::object const& input) -> std::string {
  auto const* id = input.if_contains("id");
  return std::string{family} + " #" + (id == nullptr ? "?" : json::serialize(*id));
}

void run_family(family const& which, json::object const& document, report& results, excused_cases& excused) {
  for (auto const& one : document.at("cases").get_array()) {
    auto const& input = one.as_object();
    auto const before = results.uses();
    results.begin(input);
    try {
      which.run(input, results);
    } catch (std::exception const& fault) {
      results.fail("exception", fault.what());
    }
    results.end();
    for (auto const& [rule, count] : results.uses()) {
      auto const last = before.find(rule);
      if (last == before.end() || last->second != count) excused[rule].push_back(name_of(which.name, input));
    }
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

/// `Q26`, a quirk's number, as it is; a section of the specification as `spec 2.4`.
auto rule_name(excuse const& rule) -> std::string {
  return (rule.quirk.starts_with('Q') ? "" : "spec ") + std::string{rule.quirk};
}

void print_excuses(excused_cases const& excused, bool list_them) {
  std::cout << "\nexcused by rule\n"
            << std::left << std::setw(10) << "rule" << std::right << std::setw(6) << "cases"
            << "  reason\n";
  for (auto const& [rule, cases] : excused) {
    auto const& entry = excuses()[rule];
    std::cout << std::left << std::setw(10) << rule_name(entry) << std::right << std::setw(6) << cases.size() << "  "
              << entry.reason << " (" << entry.families << ")\n";
    if (!list_them) continue;
    for (auto const& name : cases) std::cout << std::setw(18) << "" << name << '\n';
  }
}

/// Every rule says by what it excuses, and why; one that does not is a failure of the table.
auto table_is_sound() -> bool {
  auto const is_digit = [](char c) { return c >= '0' && c <= '9'; };
  auto const names_a_source = [&](std::string_view text) {
    if (text.starts_with('Q')) text.remove_prefix(1);
    return !text.empty() && is_digit(text.front()) && is_digit(text.back()) &&
           std::all_of(text.begin(), text.end(), [&](char c) { return is_digit(c) || c == '.'; });
  };
  bool sound = true;
  for (auto const& rule : excuses()) {
    if (names_a_source(rule.quirk) && !rule.reason.empty() && !rule.families.empty()) continue;
    std::cerr << "conformance: the rule \"" << rule.quirk << "\" has no quirk number or section, no reason, or no family\n";
    sound = false;
  }
  return sound;
}

auto run(options const& wanted) -> int {
  std::vector<report> reports;
  bool sound = table_is_sound();
  excused_cases excuses_used;
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
    run_family(found->second, *document, reports.emplace_back(found->second.name, *document), excuses_used);
    print_failures(reports.back(), wanted.failures);
  }
  std::cout << '\n'
            << std::left << std::setw(12) << "family" << std::right << std::setw(8) << "passed" << std::setw(9)
            << "excused" << std::setw(8) << "failed" << '\n';
  std::size_t passed = 0;
  std::size_t excused = 0;
  std::size_t failed = 0;
  for (auto const& results : reports) {
    print_row(results.family(), results.passed(), results.excused(), results.failed());
    passed += results.passed();
    excused += results.excused();
    failed += results.failed();
  }
  print_row("all", passed, excused, failed);
  if (!excuses_used.empty()) print_excuses(excuses_used, wanted.list_excused);
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
