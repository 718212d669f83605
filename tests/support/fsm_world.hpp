// Plays an allocation_fsm against a scripted store and keeps the books: what was claimed, written, told.
#pragma once

#include <agones_alloc/flow/allocation_fsm.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

namespace test_support {

using namespace agones_alloc;

/// What the world answers, in order; when a list has run out its last entry stays.
struct fsm_script {
  enum class choice { picked, busy, none };
  std::vector<choice> choices{choice::picked};
  std::vector<write_answer> writes{write_answer::applied};
  /// For a write whose answer is `unknown`: was it applied all the same?
  bool lost_write_applied{false};
  int failing_reads{0};
};

/// Something that happens just before the n-th event.
struct fsm_disturbance {
  enum class kind { none, cancel, deadline };
  kind what{kind::none};
  std::size_t before_event{0};
};

class fsm_world {
 public:
  static constexpr auto begin = allocation_fsm::time_point{std::chrono::hours{1}};
  static constexpr auto patience = std::chrono::seconds{1};

  fsm_world(fsm_script script, fsm_disturbance disturbance = {}) : script_{std::move(script)}, disturbance_{disturbance} {}

  struct books {
    std::size_t events{0};
    std::size_t told{0};
    outcome result{outcome::invalid};
    int claims_open{0};
    int applied{0};         ///< writes that took effect
    int applied_untold{0};  ///< and were told neither as allocated nor as unknown
    int wrong_put_backs{0}; ///< put back although applied
    int refreshes{0};
    bool finished{false};
    std::uint32_t tries{0};
    std::optional<claim_end> last_claim_end{};
  };

  /// Runs to the end; gives up, unfinished, after `most` events.
  auto run(std::size_t most = 200) -> books {
    action_ = fsm_.start(now_);
    note();
    while (action_.step != allocation_step::finished && books_.events < most) {
      ++books_.events;
      disturb();
      if (action_.step == allocation_step::finished) break;
      next();
      note();
    }
    books_.finished = fsm_.finished();
    books_.tries = fsm_.tries();
    if (books_.applied > 0 && books_.result != outcome::allocated && books_.result != outcome::unknown) {
      books_.applied_untold = books_.applied;
    }
    return books_;
  }

 private:
  template <class T>
  static auto take(std::vector<T>& list) -> T {
    auto const value = list.front();
    if (list.size() > 1) list.erase(list.begin());
    return value;
  }

  void disturb() {
    if (books_.events != disturbance_.before_event) return;
    switch (disturbance_.what) {
      case fsm_disturbance::kind::none: return;
      case fsm_disturbance::kind::cancel: absorb(fsm_.cancel(now_)); return;
      case fsm_disturbance::kind::deadline:
        now_ = begin + patience;
        absorb(fsm_.time_passed(now_));
        return;
    }
  }

  // A disturbance does not replace an answer that is on its way.
  void absorb(allocation_action action) {
    auto const pending = action_.step;
    action_ = action;
    note();
    if (action_.step == allocation_step::hold && pending != allocation_step::finished) action_.step = pending;
  }

  void next() {
    switch (action_.step) {
      case allocation_step::pick:
        switch (take(script_.choices)) {
          case fsm_script::choice::picked:
            ++books_.claims_open;
            applied_ = false;
            action_ = fsm_.picked(now_);
            return;
          case fsm_script::choice::busy: action_ = fsm_.busy(now_); return;
          case fsm_script::choice::none: action_ = fsm_.none(now_); return;
        }
        return;
      case allocation_step::update:
        action_ = fsm_.sent();
        writing_ = true;
        answer_ = take(script_.writes);
        if (answer_ == write_answer::applied || (answer_ == write_answer::unknown && script_.lost_write_applied)) {
          applied_ = true;
          ++books_.applied;
        }
        return;
      case allocation_step::hold:
        if (writing_) {
          writing_ = false;
          action_ = fsm_.update_done(answer_, now_, 0.5);
        } else {
          read();
        }
        return;
      case allocation_step::read: read(); return;
      case allocation_step::sleep:
        now_ = std::max(now_, action_.until);
        action_ = fsm_.time_passed(now_);
        return;
      case allocation_step::park:
        now_ += std::chrono::milliseconds{1};
        action_ = fsm_.woken(now_);
        return;
      case allocation_step::finished: return;
    }
  }

  void read() {
    if (script_.failing_reads > 0) {
      --script_.failing_reads;
      action_ = fsm_.read_done(read_answer::failed, now_, 0.5);
    } else {
      action_ = fsm_.read_done(applied_ ? read_answer::applied : read_answer::untouched, now_, 0.5);
    }
  }

  void note() {
    if (action_.claim != claim_end::keep) {
      --books_.claims_open;
      books_.last_claim_end = action_.claim;
      if (action_.claim == claim_end::put_back && applied_) ++books_.wrong_put_backs;
      if (action_.claim == claim_end::refresh) ++books_.refreshes;
    }
    if (action_.complete) {
      ++books_.told;
      books_.result = action_.result;
    }
  }

  fsm_script script_;
  fsm_disturbance disturbance_;
  backoff policy_{};
  allocation_limits limits_{};
  allocation_fsm fsm_{policy_, limits_, begin + patience};
  allocation_fsm::time_point now_{begin};
  allocation_action action_{};
  write_answer answer_{write_answer::applied};
  bool writing_{false};
  bool applied_{false};
  books books_{};
};

}  // namespace test_support
