#include "config_file.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <optional>

#include <unistd.h>

namespace agones_alloc_server {

namespace {

/// The last value of `--NAME` among the arguments; nullopt when it is not there.
auto given(std::vector<std::string> const& arguments, std::string const& name) -> std::optional<std::string> {
  std::optional<std::string> out;
  auto const option = "--" + name;
  for (std::size_t i = 0; i != arguments.size(); ++i) {
    if (arguments[i].starts_with(option + "=")) {
      out = arguments[i].substr(option.size() + 1);
    } else if (arguments[i] == option) {
      out = i + 1 == arguments.size() ? std::string{} : arguments[i + 1];
    }
  }
  return out;
}

/// The option a message of the parser is about: `--NAME` in its text, or what it did not understand at its end.
auto subject_of(std::string_view problem) -> std::string {
  static constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  auto const dashes = problem.find("--");
  auto rest = problem;
  if (dashes != std::string_view::npos) {
    rest.remove_prefix(dashes + 2);
  } else {
    rest.remove_prefix(problem.rfind(' ') + 1);
  }
  return std::string{rest.substr(0, rest.find_first_not_of(letters))};
}

/// The first line that sets `name`, counted from 1; 0: none does.
auto line_that_sets(std::string const& path, std::string const& name) -> std::size_t {
  std::ifstream file{path};
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    auto const begin = line.find_first_not_of(" \t");
    if (begin == std::string::npos || line.compare(begin, name.size(), name) != 0) continue;
    auto const after = line.find_first_not_of(" \t\r", begin + name.size());
    if (after == std::string::npos || line[after] == '=') return number;
  }
  return 0;
}

/// Kubernetes gives these to every container beside a Service whose name begins with agones-alloc.
auto is_of_a_service(std::string_view name) -> bool {
  if (name.find("_SERVICE_HOST") != std::string_view::npos || name.find("_SERVICE_PORT") != std::string_view::npos) return true;
  static constexpr std::string_view port = "_PORT";
  auto const at = name.find(port);
  if (at == std::string_view::npos) return false;
  auto const rest = name.substr(at + port.size());
  return rest.empty() || (rest.size() > 1 && rest[0] == '_' && rest[1] >= '0' && rest[1] <= '9');
}

}  // namespace

auto arguments(int argc, char const* const* argv) -> std::vector<std::string> {
  std::vector<std::string> out(argv + std::min(argc, 1), argv + argc);
  auto const* path = std::getenv("AGONES_ALLOC_CONFIG");
  if (path != nullptr && *path != 0 && !given(out, "config")) out.insert(out.begin(), std::string{"--config="} + path);
  return out;
}

auto with_place(std::string const& problem, std::vector<std::string> const& arguments) -> std::string {
  auto const path = given(arguments, "config");
  auto const subject = subject_of(problem);
  if (!path || subject.empty() || given(arguments, subject)) return problem;
  auto const line = line_that_sets(*path, subject);
  return line == 0 ? problem : *path + ":" + std::to_string(line) + ": " + problem;
}

auto unknown_variables(std::set<std::string> const& known) -> std::vector<std::string> {
  std::vector<std::string> out;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    std::string_view const one{*at};
    auto const name = one.substr(0, one.find('='));
    if (name.starts_with("AGONES_ALLOC_") && !known.contains(std::string{name}) && !is_of_a_service(name)) out.emplace_back(name);
  }
  std::sort(out.begin(), out.end());
  return out;
}

auto names_no_config(std::vector<std::string> const& arguments) -> bool {
  auto const path = given(arguments, "config");
  return path && path->empty();
}

auto config_problem(std::string const& problem, std::vector<std::string> const& arguments) -> std::string {
  static constexpr std::string_view unknown = "INI was not able to parse ";
  std::string item = problem.substr(0, problem.find(':'));
  std::string text = "cannot be given in a configuration file";
  if (problem.starts_with(unknown)) {
    item = problem.substr(unknown.size());
    text = "is no option; a line is NAME=VALUE, with a NAME of --help without its dashes";
    if (item.starts_with("\xef\xbb\xbf")) {
      item = "the file";
      text = "begins with a byte order mark; UTF-8 without one is wanted";
    } else if (auto const dot = item.find('.'); dot != std::string::npos) {
      item = "[" + item.substr(0, dot) + "]";
      text = "sections are not known; options stand without one";
    }
  }
  auto const path = given(arguments, "config").value_or("");
  auto const line = line_that_sets(path, item);
  return path + ":" + (line == 0 ? std::string{} : std::to_string(line) + ":") + " " + item + ": " + text;
}

}  // namespace agones_alloc_server
