// A process that allocates: cache, reflector and allocator on an event loop that the schedule turns, step by step.
#pragma once

#include "api_server.hpp"
#include "oracle.hpp"
#include "replica_ports.hpp"
#include "world.hpp"

#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/async/manual_timer.hpp>
#include <agones_alloc/async/readiness_gate.hpp>
#include <agones_alloc/async/reflector.hpp>
#include <agones_alloc/cache/ready_cache.hpp>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace simulation {

enum class wish : std::uint8_t { allocate, confirm, release };

/// What arrives at the caller.
struct reply {
  bool arrived{false};   ///< false: the connection is gone
  bool executed{true};   ///< false: the replica was not reached
  error_code ec;
  allocation_result result;
  bool pending{false};  ///< its server is not ready yet, and the call did not wait for that
};

struct call {
  wish what{wish::allocate};
  claimant_ptr who;
  request_ptr request;
  allocate_options options;
  release_to to{release_to::ready};
  std::function<void(reply)> done;

  // Filled by the process.
  std::uint64_t number{0};
  timer::time_point deadline{};
  timer::time_point waits_until{};
  bool cancelled{false};
  bool ended{false};
  boost::asio::cancellation_signal stop;
};
using call_ptr = std::shared_ptr<call>;

struct replica_settings {
  allocator_options options;
  nanos wall_offset{0};
  std::string owner;    ///< of pending servers; "": each process another one
  bool in_order{true};  ///< what came first is served first
};

/// From its start to its end.
class process : public std::enable_shared_from_this<process> {
 public:
  process(world&, api_server&, oracle&, std::string name, replica_settings const&);
  ~process();
  void start();

  void begin(call_ptr);
  void cancel(call_ptr const&);
  /// Something may be ready to run.
  void wake();
  void move_wall(nanos by) { clock_.move_wall(by); }
  /// No more work; what was begun goes on to its end.
  void close();
  /// As by kill -9.
  void kill();

  auto name() const noexcept -> std::string const& { return name_; }
  auto over() const -> bool { return dead_ || (closed_ && calls_.empty() && store_.pending() == 0); }
  auto serving() const -> bool { return !dead_ && !closed_ && reflector_->synced(); }
  auto seen() const noexcept -> std::uint64_t { return feed_.seen(); }
  void nudge() { feed_.nudge(); }
  void check_rest();

 private:
  void turn();
  void rest();
  void follow_clock();
  void sending(update_request const&, bool again);
  void check_order(call const&);
  void end(call_ptr const&, error_code, allocation_result);
  auto calls_of(update_request const&) const -> std::vector<call_ptr>;

  world& world_;
  api_server& api_;
  oracle& oracle_;
  std::string name_;
  nanos begun_;
  boost::asio::io_context context_;
  manual_timer clock_;
  seeded_random random_;
  ready_cache cache_;
  replica_store store_;
  replica_feed feed_;
  std::unique_ptr<readiness_gate> gate_;  ///< null: none
  std::unique_ptr<reflector> reflector_;
  std::unique_ptr<allocator> allocator_;
  std::list<call_ptr> calls_;  ///< at work, in the order of their arrival
  std::vector<std::pair<call_ptr, call_ptr>> suspects_;  ///< the second was passed over by the first, unless it has ended in the same step
  std::set<std::string> chosen_;  ///< ids for which a server was chosen here at least once
  std::uint64_t arrivals_{0};
  bool in_order_;
  bool sheds_;  ///< takes a few calls at once
  nanos followed_;
  timer::time_point armed_{};  ///< woken then
  bool awake_{false};
  bool dead_{false};
  bool closed_{false};
};

/// A name under which there is a process, most of the time.
class replica {
 public:
  replica(world&, api_server&, oracle&, int number, replica_settings);

  auto current() const noexcept -> std::shared_ptr<process> const& { return now_; }  ///< null: down
  /// Ends it, one way or the other, and starts another one.
  void restart();
  void move_wall();
  void nudge();
  void end();  ///< of the simulation
  auto all_over() -> bool;  ///< of those that are closing

 private:
  void start();

  world& world_;
  api_server& api_;
  oracle& oracle_;
  int number_;
  int lives_{0};
  replica_settings settings_;
  std::shared_ptr<process> now_;
  std::vector<std::shared_ptr<process>> closing_;
};

}  // namespace simulation
