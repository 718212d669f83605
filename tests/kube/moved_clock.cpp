// Preloaded into a process, moves its wall clock by the seconds that the file MOVED_CLOCK names holds, also while it runs.
// The monotonic clock is left alone, as a correction of a machine's clock leaves it.
#include <cstdio>
#include <cstdlib>

#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

namespace {

auto moved_by() -> time_t {
  long long seconds = 0;
  auto const* const path = std::getenv("MOVED_CLOCK");
  auto* const file = path == nullptr ? nullptr : std::fopen(path, "re");
  if (file == nullptr) return 0;
  if (std::fscanf(file, "%lld", &seconds) != 1) seconds = 0;
  std::fclose(file);
  return static_cast<time_t>(seconds);
}

}  // namespace

extern "C" {

auto clock_gettime(clockid_t clock, timespec* out) noexcept -> int {
  using function = int (*)(clockid_t, timespec*);
  static auto const original = reinterpret_cast<function>(dlsym(RTLD_NEXT, "clock_gettime"));
  auto const result = original(clock, out);
  if (result == 0 && clock == CLOCK_REALTIME) out->tv_sec += moved_by();
  return result;
}

auto time(time_t* out) noexcept -> time_t {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}

auto gettimeofday(timeval* out, void*) noexcept -> int {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  out->tv_sec = now.tv_sec;
  out->tv_usec = static_cast<suseconds_t>(now.tv_nsec / 1000);
  return 0;
}
}
