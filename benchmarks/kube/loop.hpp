// Callers that each begin the next call when their last one has ended, and what they saw.
#pragma once

#include <boost/asio/io_context.hpp>

#include <time.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace bench {

using clock_type = std::chrono::steady_clock;

inline auto milliseconds_since(clock_type::time_point begin) -> double {
  return std::chrono::duration<double, std::milli>(clock_type::now() - begin).count();
}

inline auto processor_seconds() -> double {
  ::timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

inline auto median(std::vector<double> values) -> double {
  if (values.empty()) return 0;
  auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Set by a signal: whoever waits gives up, so that what was made is removed.
inline std::sig_atomic_t volatile interrupted = 0;

template <class Predicate>
void run_until(boost::asio::io_context& io, Predicate over) {
  io.restart();
  while (!over()) {
    if (interrupted != 0) throw std::runtime_error{"interrupted"};
    if (io.run_one() == 0) throw std::runtime_error{"nothing is left to wait for"};
  }
}

struct loop_figures {
  std::size_t calls{0};
  double seconds{0};
  double processor_seconds{0};  ///< of this process
  std::vector<double> milliseconds;  ///< of each call

  void add(loop_figures const& other) {
    calls += other.calls;
    seconds += other.seconds;
    processor_seconds += other.processor_seconds;
    milliseconds.insert(milliseconds.end(), other.milliseconds.begin(), other.milliseconds.end());
  }
  auto per_second() const -> double { return seconds > 0 ? static_cast<double>(calls) / seconds : 0; }
  auto p50_ms() const -> double { return median(milliseconds); }
  auto processor_us() const -> double { return calls > 0 ? 1e6 * processor_seconds / static_cast<double>(calls) : 0; }
};

/// `start(i, caller, done)` for each i below `count`, `callers` at a time; it sees to it that done() is called once.
template <class Start>
auto closed_loop(boost::asio::io_context& io, std::size_t count, std::size_t callers, Start start) -> loop_figures {
  loop_figures out;
  out.milliseconds.reserve(count);
  std::size_t next = 0;
  std::function<void(std::size_t)> const go_on = [&](std::size_t caller) {
    if (next == count) return;
    auto const begin = clock_type::now();
    start(next++, caller, [&, caller, begin] {
      out.milliseconds.push_back(milliseconds_since(begin));
      ++out.calls;
      go_on(caller);
    });
  };
  auto const processor = processor_seconds();
  auto const begin = clock_type::now();
  for (std::size_t i = 0; i < callers; ++i) go_on(i);
  run_until(io, [&] { return out.calls == count; });
  out.seconds = milliseconds_since(begin) / 1000;
  out.processor_seconds = processor_seconds() - processor;
  return out;
}

}  // namespace bench
