#include "world.hpp"

#include <agones_alloc/detail/hash.hpp>

#include <cstdio>

namespace simulation {

void world::say(std::string line) {
  auto const microseconds = std::chrono::floor<std::chrono::microseconds>(now()).count();
  char time[32];
  std::snprintf(time, sizeof time, "%4lld.%06lld  ", static_cast<long long>(microseconds / 1'000'000),
                static_cast<long long>(microseconds % 1'000'000));
  line.insert(0, time);
  digest_ = detail::stable_hash{}.add(std::to_string(digest_)).add(line).value();
  if (verbose_) std::puts(line.c_str());
  lines_.push_back(std::move(line));
  if (lines_.size() > kept_lines) lines_.pop_front();
}

void world::fail(std::string what) {
  if (failure_) return;
  say("VIOLATION: " + what);
  failure_ = std::move(what);
}

}  // namespace simulation
