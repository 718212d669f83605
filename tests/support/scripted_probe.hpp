// Checks whose answers come when the test says so.
#pragma once

#include "gate_fixture.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace test_support {

class scripted_probe final : public readiness_probe {
 public:
  struct one {
    probe_target target;
    handler done;
  };
  std::vector<one> open;
  std::size_t most{0};
  std::size_t begun{0};
  std::size_t left{0};  ///< that the gate did not want any more
  bool knows_grpc{true};

  auto can(probe_target::protocol how) const noexcept -> bool override { return knows_grpc || how != probe_target::protocol::grpc; }

  void answer(std::size_t i, probe_answer what) {
    auto done = std::move(open.at(i).done);
    std::vector<one> rest;  // erased handlers of Boost 1.81 cannot be assigned
    for (std::size_t at = 0; at != open.size(); ++at) {
      if (at != i) rest.push_back(std::move(open[at]));
    }
    open.swap(rest);
    std::move(done)(error_code{}, what);
  }
  void answer_all(probe_answer what) {
    auto all = std::exchange(open, {});
    for (auto& each : all) std::move(each.done)(error_code{}, what);
  }

 private:
  void do_probe(probe_target target, handler done) override {
    auto slot = boost::asio::get_associated_cancellation_slot(done);
    if (slot.is_connected()) slot.assign([this](boost::asio::cancellation_type) { ++left; });
    open.push_back({std::move(target), std::move(done)});
    most = std::max(most, open.size());
    ++begun;
  }
};

struct checks_fixture : gate_fixture {
  scripted_probe probe;
  checks_fixture() { start("off", "replica-1", &probe); }
  void answer(std::size_t i, probe_answer what) {
    probe.answer(i, what);
    run();
  }
  ~checks_fixture() { one.reset(); }
};

}  // namespace test_support
