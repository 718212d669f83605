// A part of a measurement in a process of its own.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <type_traits>

namespace bench {

/// So that no part works in the heap that another one left: part(result) fills in what comes back. Call it before there are threads.
template <class Result, class Part>
auto apart(Part part) -> Result {
  static_assert(std::is_trivially_copyable_v<Result>);
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error{"pipe"};
  auto const child = ::fork();
  if (child < 0) throw std::runtime_error{"fork"};
  if (child == 0) {
    Result out;
    part(out);
    auto const written = ::write(ends[1], &out, sizeof out);
    ::_exit(written == static_cast<ssize_t>(sizeof out) ? 0 : 1);
  }
  Result out;
  ::close(ends[1]);
  auto const got = ::read(ends[0], &out, sizeof out);
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (got != static_cast<ssize_t>(sizeof out) || status != 0) throw std::runtime_error{"a part of the measurement failed"};
  return out;
}

}  // namespace bench
