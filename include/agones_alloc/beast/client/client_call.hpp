// One request of a caller: from its start to the answer, or to the end of its stream.
#pragma once

#include <agones_alloc/async/detail/wake_queue.hpp>
#include <agones_alloc/beast/client/client_connection.hpp>
#include <agones_alloc/beast/client/client_exchange.hpp>
#include <agones_alloc/beast/client/client_message.hpp>
#include <agones_alloc/beast/client/credentials.hpp>
#include <agones_alloc/beast/client/http_client.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/error.hpp>

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

class client_call;

/// Who queues calls and gives them connections.
class call_owner {
 public:
  virtual ~call_owner() = default;
  virtual void again(std::shared_ptr<client_call>) = 0;    ///< its kept connection was stale
  virtual void refused(std::shared_ptr<client_call>) = 0;  ///< it was answered 401
  virtual void forget(client_call&) = 0;                   ///< it waits no longer
  virtual void ended(client_call&) = 0;                    ///< it is active no longer
  virtual void cut(client_connection&) = 0;                ///< was closed by its call
};

/// Confined to the owner's executor, but for its construction.
class client_call final : public client_exchange,
                          public wake_queue::entry,
                          public std::enable_shared_from_this<client_call> {
 public:
  using response_handler = http_client::response_handler;
  using stream_handler = http_client::stream_handler;
  using read_handler = response_stream::handler;
  using queue = std::list<std::shared_ptr<client_call>>;
  enum class stage : std::uint8_t { fresh, waiting, refused, active, over };

  /// One of the handlers is null.
  client_call(boost::asio::any_io_executor executor, std::weak_ptr<call_owner> owner, client_request r,
              std::unique_ptr<response_handler> whole, std::unique_ptr<stream_handler> open)
      : request{std::move(r)},
        executor_{std::move(executor)},
        owner_{std::move(owner)},
        whole_{std::move(whole)},
        open_{std::move(open)} {
    streamed = open_ != nullptr;
  }

  // The owner's side.
  /// On the wire with what the owner gave.
  AGONES_ALLOC_DECL void send(std::shared_ptr<client_connection>, credentials_ptr, std::string bytes);
  /// Ends it in any stage, for a reason that is not the connection's.
  AGONES_ALLOC_DECL void give_up(error_code, std::string reason = {});
  /// The 401 stands.
  AGONES_ALLOC_DECL void accept_refusal();

  // The stream's side.
  auto handed_over() const noexcept -> bool { return streamed && !open_; }
  AGONES_ALLOC_DECL void read(std::unique_ptr<read_handler>);

  client_request request;
  stage where{stage::fresh};
  queue::iterator place;     ///< while waiting
  credentials_ptr used;      ///< what it was sent with
  std::uint64_t number{0};   ///< in the order in which they began to wait
  bool repeated{false};      ///< because a kept connection was stale
  bool refreshed{false};     ///< because of a 401

 private:
  void on_head(response_head const&) override;
  void on_body(std::string& bytes) override;
  void on_end(exchange_end, client_response) override;
  auto fate(error_code, bool taken) const -> error_code;
  void complete(error_code, client_response = {});
  void complete_read(error_code);

  template <class Handler, class Result>
  void post_completion(std::unique_ptr<Handler>, error_code, Result);

  boost::asio::any_io_executor executor_;
  std::weak_ptr<call_owner> owner_;
  std::unique_ptr<response_handler> whole_;
  std::unique_ptr<stream_handler> open_;
  std::unique_ptr<read_handler> reader_;
  std::weak_ptr<client_connection> connection_;
  client_response refusal_;  ///< the 401 while other credentials are looked for
  std::string delivered_;    ///< what the reader looks at
  error_code ended_;         ///< how the stream did
};

/// The stream that callers hold.
class open_stream final : public response_stream {
 public:
  open_stream(boost::asio::any_io_executor executor, std::shared_ptr<client_call> call, response_head head)
      : executor_{std::move(executor)}, call_{std::move(call)}, head_{std::move(head)} {}
  AGONES_ALLOC_DECL ~open_stream() override;
  open_stream(open_stream const&) = delete;
  auto operator=(open_stream const&) -> open_stream& = delete;
  auto head() const noexcept -> response_head const& override { return head_; }

 private:
  AGONES_ALLOC_DECL void do_read_some(handler) override;

  boost::asio::any_io_executor executor_;
  std::shared_ptr<client_call> call_;
  response_head head_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/client/client_call.ipp>
#endif
