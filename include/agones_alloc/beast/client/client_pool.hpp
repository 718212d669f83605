// Who gets which connection, when.
#pragma once

#include <agones_alloc/async/detail/wake_queue.hpp>
#include <agones_alloc/beast/client/client_alarm.hpp>
#include <agones_alloc/beast/client/client_call.hpp>
#include <agones_alloc/beast/client/client_connection.hpp>
#include <agones_alloc/beast/client/client_counts.hpp>
#include <agones_alloc/beast/client/client_options.hpp>
#include <agones_alloc/beast/client/credentials.hpp>
#include <agones_alloc/beast/client/token_bucket.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/logger.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/cancellation_signal.hpp>

#include <array>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Requests and streams wait in a queue each. A new connection belongs to nobody: it goes to whoever waits when it is
/// there. Each attempt to connect that fails ends the one who has waited longest.
class client_pool final : public connection_owner,
                          public call_owner,
                          public std::enable_shared_from_this<client_pool> {
 public:
  AGONES_ALLOC_DECL client_pool(boost::asio::any_io_executor, client_endpoint, std::shared_ptr<credentials_provider>,
                                timer&, client_options, logger*);
  auto executor() const noexcept -> boost::asio::any_io_executor const& { return executor_; }

  // On the executor.
  AGONES_ALLOC_DECL void start(std::shared_ptr<client_call>);
  AGONES_ALLOC_DECL void shut();
  AGONES_ALLOC_DECL auto counts() const noexcept -> client_counts;
  AGONES_ALLOC_DECL void on_alarm();

  AGONES_ALLOC_DECL void again(std::shared_ptr<client_call>) override;
  AGONES_ALLOC_DECL void refused(std::shared_ptr<client_call>) override;
  AGONES_ALLOC_DECL void forget(client_call&) override;
  AGONES_ALLOC_DECL void ended(client_call&) override;
  AGONES_ALLOC_DECL void cut(client_connection&) override;

  AGONES_ALLOC_DECL void opened(client_connection&) override;
  AGONES_ALLOC_DECL void released(client_connection&) override;
  AGONES_ALLOC_DECL void closed(client_connection&) override;
  AGONES_ALLOC_DECL void open_failed(client_connection&, error_code, std::string_view, std::string_view) override;

 private:
  struct call_lane {
    client_call::queue waiting;
    std::size_t active{0};
    std::size_t most{0};
    auto wanted() const noexcept -> std::size_t {
      return active >= most ? 0 : std::min(waiting.size(), most - active);
    }
  };
  auto lane_of(client_call const& call) noexcept -> call_lane& { return lanes_[call.streamed ? 1 : 0]; }
  auto longest_waiting() noexcept -> call_lane*;

  void enqueue(std::shared_ptr<client_call>, bool first);
  void pump(credentials_ptr fetched = {});
  void pump_soon();
  auto adopt(credentials_ptr const&) -> bool;
  auto serve_one(call_lane&, credentials_ptr const&) -> bool;
  void dial();
  void fetch(credentials_ptr refused);
  void on_fetched(error_code, credentials_ptr);
  void fail_waiting(error_code);
  auto take_resting() -> std::shared_ptr<client_connection>;
  void close_resting(bool all);
  void set_alarm();
  void warn(std::string_view message, std::string_view phase, std::string_view reason);

  boost::asio::any_io_executor executor_;
  std::shared_ptr<credentials_provider> provider_;
  logger* log_;
  std::shared_ptr<connection_settings const> settings_;
  std::array<call_lane, 2> lanes_;  ///< requests, streams
  std::unordered_map<client_connection*, std::shared_ptr<client_connection>> connections_;
  std::vector<client_connection*> resting_;  ///< the last used at the back
  std::unordered_map<client_call*, std::shared_ptr<client_call>> active_;
  std::vector<std::shared_ptr<client_call>> refused_;
  std::shared_ptr<tls_context> context_;
  credentials_ptr adopted_;
  token_bucket bucket_;
  wake_queue times_;
  wake_queue::entry rate_time_;
  wake_queue::entry fetch_time_;
  client_alarm alarm_;
  boost::asio::cancellation_signal cancel_fetch_;
  client_counts counts_;
  std::uint64_t fetch_number_{0};
  std::uint64_t call_number_{0};
  std::size_t dialing_{0};
  std::set<std::string, std::less<>> told_;  ///< phases that fail since the last connection: each is said once
  bool fetching_{false};
  bool pumping_{false};
  bool shut_{false};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/client/client_pool.ipp>
#include <agones_alloc/impl/beast/client/client_pool_credentials.ipp>
#endif
