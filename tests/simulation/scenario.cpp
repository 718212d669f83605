#include "scenario.hpp"

#include "bounds.hpp"
#include "fleet.hpp"
#include "matchmaker.hpp"
#include "replica.hpp"

#include <agones_alloc/select/claim.hpp>

namespace simulation {

namespace {

auto drawn_rate(world& w, double most) -> double { return w.chance(0.4) ? 0.0 : w.random.unit() * most; }

auto drawn_weather(world& w) -> weather {
  weather out;
  out.unavailable = drawn_rate(w, 0.15);
  out.throttled = drawn_rate(w, 0.1);
  out.refused = drawn_rate(w, 0.05);
  out.lost_before = drawn_rate(w, 0.15);
  out.lost_after = drawn_rate(w, 0.15);
  out.late = drawn_rate(w, 0.1);
  out.slow = drawn_rate(w, 0.2);
  out.broken_watch = drawn_rate(w, 0.15);
  out.stuck_watch = drawn_rate(w, 0.2);
  out.pause = drawn_rate(w, 0.01);
  out.lost_caller = drawn_rate(w, 0.15);
  return out;
}

class scene {
 public:
  explicit scene(scenario const& s)
      : what_{s}, w_{s.seed, s.broken, s.verbose}, api_{w_, 90 + w_.random.below(15)}, truth_{w_, api_}, fleet_{w_, api_, truth_} {}
  ~scene() {
    for (auto& one : replicas_) one->end();
  }

  auto play() -> verdict {
    w_.sky = drawn_weather(w_);
    if (!what_.late_writes) w_.sky.late = 0;
    w_.exact = w_.chance(0.5);
    api_.on_change([this](game_server const*, game_server const*, origin const&) {
      for (auto& one : replicas_) one->nudge();
    });
    if (what_.gate) draw_gate();
    fleet_.start();
    start_replicas();
    busy_ = w_.between(20ms, 400ms);
    next_matchmaker();
    next_accident();
    verdict out;
    while (out.steps < what_.steps && !w_.failure() && w_.queue.step(nanos::max())) ++out.steps;
    calm_down();
    auto const end = w_.now() + bounds::settling;
    while (!w_.failure() && w_.queue.step(end)) ++out.steps;
    if (!w_.failure()) check_rest();
    out.failure = w_.failure();
    out.last_lines.assign(w_.last_lines().begin(), w_.last_lines().end());
    out.digest = w_.digest();
    out.figures = w_.figures;
    return out;
  }

 private:
  void draw_gate() {
    auto& gate = w_.gate.emplace();
    gate.enabled = true;
    gate.timeout = w_.between(300ms, 3s);
    gate.servers = 1 + static_cast<std::uint32_t>(w_.random.below(3));
    gate.on_timeout = static_cast<gate_policy>(w_.random.below(3));
    if (w_.chance(0.3)) gate.carrier = gate_carrier::allocated;
  }

  void start_replicas() {
    auto const expired_to = w_.chance(0.8) ? release_to::ready : release_to::shutdown;
    auto const sweepers = 1 + w_.random.below(static_cast<std::uint64_t>(what_.replicas));
    for (int i = 0; i != what_.replicas; ++i) {
      replica_settings settings;
      settings.options.claims.expired_to = expired_to;
      settings.options.claims.sweep = static_cast<std::uint64_t>(i) < sweepers && w_.broken != mutation::no_sweeper;
      // An index that is behind knows no order yet among those who ask meanwhile.
      settings.in_order = w_.chance(0.7);
      if (!settings.in_order) settings.options.index.slice = 2;
      if (w_.chance(0.2)) settings.options.max_waiting = 3;
      if (w_.chance(0.2)) {
        settings.options.max_operations = 1 + w_.random.below(5);
        settings.options.overload_retry_after = bounds::advice;
      }
      if (w_.chance(0.2)) settings.options.max_writes = 1 + w_.random.below(2);
      if (w_.chance(0.2)) settings.options.limits.park = 300ms;
      settings.wall_offset = w_.between(-bounds::clocks / 2, bounds::clocks / 2);
      if (what_.gate && w_.chance(0.5)) settings.owner = "replica-" + std::to_string(i);
      if (i == 0 && w_.broken == mutation::wrong_clock) settings.wall_offset = 1h;
      replicas_.push_back(std::make_unique<replica>(w_, api_, truth_, i, std::move(settings)));
    }
  }

  void next_matchmaker() {
    w_.queue.in(w_.between(1us, busy_), [this] {
      if (w_.calm) return;
      surroundings const around{w_, api_, truth_, replicas_};
      std::make_shared<matchmaker>(around, ++matchmakers_)->start();
      next_matchmaker();
    });
  }

  void next_accident() {
    w_.queue.in(w_.between(1ms, 500ms), [this] {
      if (w_.calm) return;
      auto& victim = *replicas_[w_.random.below(replicas_.size())];
      switch (w_.random.below(12)) {
        case 0: victim.restart(); break;
        case 1: api_.compact(w_.random.below(10)); break;
        case 2: victim.move_wall(); break;
        case 3: fleet_.take_away(); break;
        default: fleet_.disturb(); break;
      }
      if (w_.broken == mutation::naive_sweeper) sweep_naively();
      next_accident();
    });
  }

  // Ends what it once saw without a confirmation, whatever has become of it.
  void sweep_naively() {
    for (auto const& server : api_.list()) {
      for (auto const& claim : claims_of(*server)) {
        if (!claim.expires) continue;
        auto const left = *claim.expires - timer::wall_time{1'600'000'000s} - w_.now();
        w_.queue.in(left + bounds::clocks, [this, server, id = claim.id] {
          w_.say("naive sweeper: ends " + id);
          api_.modify(server->meta.name.view(), server->meta.uid.view(), {"naive sweeper", true, w_.now()},
                      [&](game_server& now) { release_claim(now, id, release_to::ready); });
        });
      }
    }
  }

  void calm_down() {
    w_.say("from here on nothing goes wrong any more");
    w_.calm = true;
  }

  void check_rest() {
    w_.say("all should be at rest");
    truth_.check_rest();
    if (api_.list().size() != fleet_.size()) w_.fail("a server was not replaced");
    for (auto& one : replicas_) {
      if (!one->all_over()) w_.fail("a replica that closes does not come to its end");
      if (one->current()) one->current()->check_rest();
    }
  }

  scenario what_;
  world w_;
  api_server api_;
  oracle truth_;
  fleet fleet_;
  std::vector<std::unique_ptr<replica>> replicas_;
  nanos busy_{0};
  std::uint64_t matchmakers_{0};
};

}  // namespace

auto run(scenario const& what) -> verdict { return scene{what}.play(); }

}  // namespace simulation
