// Somebody who needs a server: asks, asks again, waits, confirms, releases, or dies in between.
#pragma once

#include "oracle.hpp"
#include "replica.hpp"
#include "world.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace simulation {

/// All matchmakers look at the same replicas.
struct surroundings {
  world& w;
  api_server& api;
  oracle& truth;
  std::vector<std::unique_ptr<replica>>& replicas;
};

class matchmaker : public std::enable_shared_from_this<matchmaker> {
 public:
  matchmaker(surroundings const&, std::uint64_t number);
  void start();

 private:
  using process_ptr = std::shared_ptr<process>;

  auto call_options() -> allocate_options;
  auto any_replica() -> process_ptr;
  /// Where to ask next; may take time.
  void choose(std::function<void(process_ptr)> then);
  void when_known(nanos since, std::function<void(process_ptr)> then);
  void send(process_ptr const&, wish, request_ptr, std::function<void(reply)> done);
  void deliver(process_ptr const&, call_ptr const&);

  void ask(std::size_t at_once);
  void ask_again();
  void asked(reply);
  auto says_for_sure(reply const&) const -> bool;
  void held();
  void misuse();
  void with_claim(std::function<void(process_ptr)> then);
  void confirm(int tries);
  void leave_or_release();
  void release();
  void die(char const* where);

  surroundings around_;
  claimant_ptr me_;
  request_ptr wanted_;
  std::string name_;
  bool patient_;
  bool confirms_;
  int rounds_{0};
  std::size_t outstanding_{0};
  std::optional<reply> best_;
  bool pending_{false};        ///< an answer to the same question was that it is to come back
  std::weak_ptr<process> last_;
  std::uint64_t told_at_{0};  ///< the version of the API server when it got its server
  bool dead_{false};
};

}  // namespace simulation
