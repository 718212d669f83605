#include "bounds.hpp"
#include "replica.hpp"

#include <utility>

namespace simulation {

replica::replica(world& w, api_server& api, oracle& o, int number, replica_settings settings)
    : world_{w}, api_{api}, oracle_{o}, number_{number}, settings_{std::move(settings)} {
  start();
}

void replica::start() {
  ++lives_;
  auto const name = "replica-" + std::to_string(number_) + (lives_ == 1 ? std::string{} : "." + std::to_string(lives_));
  now_ = std::make_shared<process>(world_, api_, oracle_, name, settings_);
  now_->start();
}

void replica::restart() {
  if (now_ == nullptr) return;
  auto const old = std::exchange(now_, nullptr);
  if (world_.chance(0.5)) {
    world_.count("crashes");
    old->kill();
  } else {
    world_.count("stops");
    old->close();
    closing_.push_back(old);
  }
  world_.queue.in(world_.between(1ms, 800ms), [this] { start(); });
}

void replica::move_wall() {
  constexpr auto half = bounds::clocks / 2;
  auto const to = world_.between(-half, half);
  auto const by = to - std::exchange(settings_.wall_offset, to);
  for (auto const& p : closing_) p->move_wall(by);
  if (now_) now_->move_wall(by);
}

void replica::nudge() {
  if (now_) now_->nudge();
}

void replica::end() {
  for (auto const& p : closing_) p->kill();
  if (now_) now_->kill();
}

auto replica::all_over() -> bool {
  std::erase_if(closing_, [](std::shared_ptr<process> const& p) { return p->over(); });
  return closing_.empty();
}

}  // namespace simulation
