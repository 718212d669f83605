// A loop on a thread of its own.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <thread>

namespace bench {

/// Until it goes out of scope.
class running_loop {
 public:
  explicit running_loop(boost::asio::io_context& io) : io_{&io}, work_{io.get_executor()}, thread_{[&io] { io.run(); }} {}
  ~running_loop() {
    work_.reset();
    io_->stop();
    thread_.join();
  }
  running_loop(running_loop const&) = delete;
  auto operator=(running_loop const&) -> running_loop& = delete;

 private:
  boost::asio::io_context* io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::thread thread_;
};

}  // namespace bench
