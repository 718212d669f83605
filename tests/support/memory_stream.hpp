// A byte stream whose other end is a test.
#pragma once

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/append.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace test_support {

/// What the two ends share. Confined to the executor.
class memory_pipe {
 public:
  using handler = boost::asio::any_completion_handler<void(boost::system::error_code, std::size_t)>;

  explicit memory_pipe(boost::asio::any_io_executor executor) : executor_{std::move(executor)} {}

  /// The test's end.
  void feed(std::string_view bytes) {
    input_.append(bytes);
    serve();
  }
  void end_input() {
    ended_ = true;
    serve();
  }
  auto output() const noexcept -> std::string const& { return output_; }
  auto closed() const noexcept -> bool { return closed_; }

  /// The stream's end.
  void read(boost::asio::mutable_buffer into, handler done) {
    into_ = into;
    reading_ = std::make_unique<handler>(std::move(done));
    serve();
  }
  template <class Buffers>
  auto write(Buffers const& from) -> std::size_t {
    auto const size = boost::asio::buffer_size(from);
    auto const before = output_.size();
    output_.resize(before + size);
    return boost::asio::buffer_copy(boost::asio::buffer(output_.data() + before, size), from);
  }
  void close() {
    closed_ = true;
    serve();
  }
  auto executor() const noexcept -> boost::asio::any_io_executor const& { return executor_; }

 private:
  void serve() {
    if (!reading_ || (!closed_ && !ended_ && input_.empty())) return;
    boost::system::error_code ec;
    std::size_t size = 0;
    if (closed_) {
      ec = boost::asio::error::operation_aborted;
    } else if (!input_.empty()) {
      size = boost::asio::buffer_copy(into_, boost::asio::buffer(input_));
      input_.erase(0, size);
    } else {
      ec = boost::asio::error::eof;
    }
    boost::asio::post(executor_, boost::asio::append(std::move(*std::exchange(reading_, nullptr)), ec, size));
  }

  boost::asio::any_io_executor executor_;
  std::string input_;
  std::string output_;
  boost::asio::mutable_buffer into_;
  std::unique_ptr<handler> reading_;
  bool ended_{false};
  bool closed_{false};
};

/// Reads what the test feeds, writes what the test can look at; a write is never short.
class memory_stream {
 public:
  using executor_type = boost::asio::any_io_executor;

  explicit memory_stream(std::shared_ptr<memory_pipe> pipe) : pipe_{std::move(pipe)} {}

  auto get_executor() const noexcept -> executor_type { return pipe_->executor(); }

  template <class Handler>
  void async_read_some(boost::asio::mutable_buffer into, Handler&& done) {
    pipe_->read(into, memory_pipe::handler{std::forward<Handler>(done)});
  }

  template <class Buffers, class Handler>
  void async_write_some(Buffers const& from, Handler&& done) {
    auto const size = pipe_->write(from);
    boost::asio::post(pipe_->executor(),
                      boost::asio::append(std::forward<Handler>(done), boost::system::error_code{}, size));
  }

  template <class Kept>
  friend void shut_sending(memory_stream&, Kept const&) {}
  friend void close_stream(memory_stream& stream) { stream.pipe_->close(); }

 private:
  std::shared_ptr<memory_pipe> pipe_;
};

}  // namespace test_support
