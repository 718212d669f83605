// One gRPC call as a request, and its answer as the call's end.
#pragma once

#include <agones_alloc/beast/http_handler.hpp>
#include <agones_alloc/beast/http_message.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <boost/intrusive/list.hpp>

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Everything of the call that a handler may look at, apart from gRPC: it may outlive the call.
class call_request final : public http_request {
 public:
  call_request() {
    method = "POST";
  }
  auto header(std::string_view name) const -> std::string override;
  void visit_headers(std::function<void(std::string_view, std::string_view)> const& visit) const override {
    for (auto const& [key, value] : fields) visit(key, value);
  }

  std::vector<std::pair<std::string, std::string>> fields;  ///< names in lower case
  std::string peer_text;
  ::grpc::Slice bytes;
  std::string joined;  ///< a message that came in pieces
  std::shared_ptr<client_certificate const> certificate;
};

class grpc_calls;

/// Lives as long as gRPC or the handler knows of it. But for `enter`, `left` and what gRPC calls, confined to the executor.
class grpc_call : public std::enable_shared_from_this<grpc_call>, public boost::intrusive::list_base_hook<> {
 public:
  grpc_call(std::shared_ptr<grpc_calls> all, ::grpc::CallbackServerContext& context, std::string_view path,
            ::grpc::ByteBuffer const& message);
  virtual ~grpc_call() = default;
  grpc_call(grpc_call const&) = delete;
  auto operator=(grpc_call const&) -> grpc_call& = delete;

  /// From gRPC's thread, once.
  void enter();
  /// From gRPC's thread: the client is not interested any more.
  void left();
  /// Ends the call if it has not ended; its request, if there is one, is cancelled.
  void cut(::grpc::Status const&);
  virtual auto is_stream() const noexcept -> bool { return false; }

 private:
  friend grpc_calls;
  void begin();
  std::shared_ptr<grpc_call> kept_;  ///< while it is among those that are open; theirs

 protected:
  virtual void answer(http_response) = 0;
  /// The client has left, or it is cut. True: nobody else will end the call.
  virtual auto abandoned() -> bool { return false; }
  virtual void end(::grpc::Status const&) = 0;

  auto ended() const noexcept -> bool { return ended_; }
  auto cancelled() const noexcept -> bool { return cancelled_; }
  void finish(::grpc::Status const&, int http_status);
  /// The answer's fields as trailing metadata.
  void add_trailers(http_response const&);
  auto context() noexcept -> ::grpc::CallbackServerContext& { return *context_; }
  auto all() noexcept -> grpc_calls& { return *all_; }

 private:
  void add_timeout();
  void cancel();

  std::shared_ptr<grpc_calls> all_;
  ::grpc::CallbackServerContext* context_;  ///< not after the end
  call_request request_;
  std::string certificate_text_;
  bool whole_;  ///< there was a message; gRPC takes half of one for none, and calls all the same
  std::chrono::system_clock::time_point deadline_;
  boost::asio::cancellation_signal leaving_;
  timer::time_point began_{};
  bool ended_{false};
  bool cancelled_{false};
};

/// What the calls of one listener share. Its functions are called from any thread but for `handler` and `time`.
class grpc_calls : public std::enable_shared_from_this<grpc_calls> {
 public:
  grpc_calls(boost::asio::any_io_executor own, http_handler& behind, timer& clock, http_observer* told, std::size_t most_calls)
      : executor{std::move(own)}, handler{&behind}, time{&clock}, observer{told}, most{most_calls} {}

  boost::asio::any_io_executor executor;
  http_handler* handler;
  timer* time;
  http_observer* observer;
  std::size_t most;
  bool secured{false};  ///< over TLS; set before there are calls

  /// "": it will begin, on the executor. Else why not.
  auto enter(std::shared_ptr<grpc_call>) -> std::string;
  void leave(grpc_call*);  ///< on the executor
  std::function<void()> emptied;  ///< called once, on the executor, when the last one has left
  auto open() -> std::vector<std::shared_ptr<grpc_call>>;
  auto count() const -> std::size_t;
  void close();  ///< no more of them
  void forget_arrived();  ///< nobody will begin them: the executor need not run any more
  /// On the executor.
  auto certificate_of(std::string const& pem) -> std::shared_ptr<client_certificate const>;

 private:
  void begin_arrived();

  mutable std::mutex mutex_;
  boost::intrusive::list<grpc_call> open_;
  std::deque<std::shared_ptr<grpc_call>> arrived_;  ///< not empty: the executor has been asked to begin them
  bool closed_{false};
  std::unordered_map<std::string, std::shared_ptr<client_certificate const>> certificates_;
};

/// The status of an answer: of its fields, or else by its HTTP status.
auto status_of(http_response const&) -> ::grpc::Status;

/// It is what gRPC knows of, too.
class unary_call final : public grpc_call, private ::grpc::ServerUnaryReactor {
 public:
  unary_call(std::shared_ptr<grpc_calls> all, ::grpc::CallbackServerContext& context, std::string_view path,
             ::grpc::ByteBuffer const& message, ::grpc::ByteBuffer& out)
      : grpc_call{std::move(all), context, path, message}, out_{&out} {}
  /// For gRPC, which tells of its end. Once.
  auto reactor() -> ::grpc::ServerUnaryReactor*;

 private:
  void answer(http_response) override;
  void end(::grpc::Status const&) override;
  void OnCancel() override { left(); }
  void OnDone() override { auto const last = std::move(for_grpc_); }
  // Both may run wherever gRPC is: they take no lock that is held while gRPC is called. Else gRPC wakes a thread of its own for the end
  // of each call. No part of its API, by its own words: a gRPC that does not ask is slower, and nothing else.
  auto InternalInlineable() -> bool override { return true; }

  ::grpc::ByteBuffer* out_;
  std::shared_ptr<grpc_call> for_grpc_;  ///< until gRPC is done with it
};

class stream_call final : public grpc_call {
 public:
  using grpc_call::grpc_call;
  auto reactor() -> ::grpc::ServerWriteReactor<::grpc::ByteBuffer>*;
  auto is_stream() const noexcept -> bool override { return true; }

 private:
  class link;
  void answer(http_response) override;
  auto abandoned() -> bool override;
  void end(::grpc::Status const&) override;
  void go_on();
  void take(http_body_stream::piece);

  link* link_{nullptr};
  std::shared_ptr<http_body_stream> stream_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
