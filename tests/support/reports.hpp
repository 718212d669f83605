// Ports that remember what they were told, and a source of numbers that the test wrote down.
#pragma once

#include <agones_alloc/port/logger.hpp>
#include <agones_alloc/port/metrics.hpp>
#include <agones_alloc/port/random.hpp>
#include <agones_alloc/port/recorder.hpp>

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace test_support {

using namespace agones_alloc;

/// The numbers given, then zeros.
class scripted_random final : public random_source {
 public:
  explicit scripted_random(std::deque<std::uint64_t> numbers = {}) : numbers_{std::move(numbers)} {}
  auto next() noexcept -> std::uint64_t override {
    if (numbers_.empty()) return 0;
    auto const number = numbers_.front();
    numbers_.pop_front();
    return number;
  }

 private:
  std::deque<std::uint64_t> numbers_;
};

class event_list final : public recorder {
 public:
  void record(game_server const& about, type kind, std::string_view reason, std::string_view message) override {
    lines.push_back(std::string{kind == type::warning ? "Warning " : "Normal "} + about.meta.name.str() + " " +
                    std::string{reason} + ": " + std::string{message});
  }
  std::vector<std::string> lines;
};

class sample_list final : public metrics {
 public:
  struct sample {
    outcome result;
    std::string fleet;
    std::string scheduling;
    std::uint32_t tries;
    std::chrono::nanoseconds took;
    std::string cluster;
    bool multi_cluster;
  };
  void allocation(allocation_sample const& s) override {
    samples.push_back({s.result, std::string{s.fleet}, std::string{s.scheduling}, s.tries, s.took,
                       std::string{s.cluster}, s.multi_cluster});
  }
  void cluster_call(cluster_call_sample const& s) override {
    calls.push_back(std::string{s.cluster} + " " + std::string{s.endpoint} + " " + std::string{to_string(s.result)});
  }
  void cluster_breaker(std::string_view cluster, std::string_view endpoint, bool open) override {
    breakers.push_back(std::string{cluster} + " " + std::string{endpoint} + (open ? " open" : " closed"));
  }
  void update_conflict() override { ++conflicts; }
  void claim_expired() override { ++expired; }
  void claim_lost() override { ++lost_claims; }
  void index_size(index_sample const& s) override { index.push_back(s); }
  void in_flight(std::size_t n) override { most_in_flight = n > most_in_flight ? n : most_in_flight; now_in_flight = n; }
  void waiting(std::size_t n, std::chrono::steady_clock::time_point since) override { depth = n, oldest = since; }
  std::vector<sample> samples;
  std::vector<std::string> calls;
  std::vector<std::string> breakers;
  int conflicts{0};
  int expired{0};
  int lost_claims{0};
  std::vector<index_sample> index;
  std::size_t most_in_flight{0};
  std::size_t now_in_flight{0};
  std::size_t depth{0};
  std::chrono::steady_clock::time_point oldest{std::chrono::steady_clock::time_point::max()};
};

class log_list final : public logger {
 public:
  void log(severity, std::string_view message, std::initializer_list<field> fields) override {
    std::string line{message};
    for (auto const& [name, value] : fields) line += " " + std::string{name} + "=" + std::string{value};
    lines.push_back(std::move(line));
  }
  std::vector<std::string> lines;
};

}  // namespace test_support
