#include "mutations.hpp"

#include <algorithm>
#include <array>

namespace simulation {

namespace {

constexpr std::array table{
    mutation_entry{mutation::stale_writes, "stale-writes", "the store accepts writes on old versions", 20},
    mutation_entry{mutation::lying_feed, "lying-feed", "the watch says that servers are free which are held", 20},
    mutation_entry{mutation::deaf_feed, "deaf-feed", "the watch loses events", 20},
    mutation_entry{mutation::digest_not_compared, "digest-not-compared", "an id is good for any request", 20},
    mutation_entry{mutation::digest_lost, "digest-lost", "the digest is written wrong", 20},
    mutation_entry{mutation::claim_lost, "claim-lost", "the id is not written", 20},
    mutation_entry{mutation::naive_sweeper, "naive-sweeper", "a sweeper does not look again before it ends a claim", 20},
    mutation_entry{mutation::wrong_clock, "wrong-clock", "a clock is an hour fast", 20},
    mutation_entry{mutation::no_sweeper, "no-sweeper", "nobody ends claims", 20},
    mutation_entry{mutation::swallowed_answers, "swallowed-answers", "writes that are neither made nor answered", 20},
    mutation_entry{mutation::told_before_the_write, "told-before-the-write", "success is told before the write is made", 20},
    mutation_entry{mutation::denied_writes, "denied-writes", "writes that are made, and said not to be", 20},
    mutation_entry{mutation::dropped_put_back, "dropped-put-back", "a server whose write failed stays claimed", 20},
    mutation_entry{mutation::undo_lost, "undo-lost", "a release leaves labels and counters", 20},
    mutation_entry{mutation::skipped_waiter, "skipped-waiter", "who came first is let in later", 20},
    mutation_entry{mutation::no_deadline, "no-deadline", "the caller's deadline is not passed on", 20},
    mutation_entry{mutation::exact_cut, "exact-cut", "what does not fit is cut off, though it was to fit as a whole", 20},
    mutation_entry{mutation::gate_open, "gate-open", "servers are handed over without their games' word", 20, true},
    mutation_entry{mutation::gate_endless, "gate-endless", "nobody carries on what a crashed replica left pending", 20, true},
    mutation_entry{mutation::gate_deaf, "gate-deaf", "a gate is not told of anything that is seen", 20, true},
    mutation_entry{mutation::gate_undo_lost, "gate-undo-lost", "the end of a wait leaves labels and counters", 20, true},
    mutation_entry{mutation::gate_stale_end, "gate-stale-end", "a wait is ended whatever the version of its server", 20, true},
};

}  // namespace

auto mutations() -> std::span<mutation_entry const> { return table; }

auto mutation_named(std::string_view name) -> std::optional<mutation> {
  auto const at = std::find_if(table.begin(), table.end(), [&](mutation_entry const& m) { return m.name == name; });
  return at == table.end() ? std::nullopt : std::optional{at->what};
}

}  // namespace simulation
