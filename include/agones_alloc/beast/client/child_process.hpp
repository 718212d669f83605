// Runs a program for what it prints.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/error.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

struct child_command {
  std::string program;  ///< looked up in PATH unless it holds a slash
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;  ///< added to our own, in place of variables of the same name
};

struct child_limits {
  std::chrono::nanoseconds time{std::chrono::seconds{30}};
  std::size_t output_bytes{1U << 20U};
};

/// The handle of a running program. Confined to its executor, as is its construction.
class child_process {
 public:
  /// `problem` is "" when it printed `output` and exited with 0; else what happened, in words that hold no output.
  using callback = std::function<void(std::string problem, std::string output)>;

  /// Starts it: standard input empty, standard error ours, in a process group of its own. Past a limit the group is
  /// killed. `done` is called once, never inside, not after the handle's destruction, which kills as well.
  AGONES_ALLOC_DECL child_process(boost::asio::any_io_executor, timer&, child_command const&, child_limits,
                                  callback done);
  AGONES_ALLOC_DECL ~child_process();
  child_process(child_process const&) = delete;
  auto operator=(child_process const&) -> child_process& = delete;

 private:
  class run;
  std::shared_ptr<run> run_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/client/child_process.ipp>
#endif
