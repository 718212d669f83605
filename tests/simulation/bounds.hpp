// What the promises of the library rest on: how bad the simulated world may get.
#pragma once

#include "schedule.hpp"

namespace simulation::bounds {

/// A request that was sent takes effect within this time, or never.
inline constexpr nanos network = 2s;
/// Two wall clocks differ by no more than this, at any time.
inline constexpr nanos clocks = 400ms;
/// A replica does not stand still for longer.
inline constexpr nanos pause = 250ms;
/// A replica that takes a few calls at once says to the others when to come back.
inline constexpr nanos advice = 77ms;
/// A pending server is ended within this time after its deadline, although replicas come and go and the store refuses.
inline constexpr nanos pending = 25s;
/// Once faults have ended: until every claim that nobody confirms has ended, and every server is where it belongs. The longest
/// claim_ttl, the sweeper's and the reflector's retries, a write that is late, and time to spare.
inline constexpr nanos settling = 40s;

}  // namespace simulation::bounds
