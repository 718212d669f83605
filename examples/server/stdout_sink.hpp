// Events as JSON lines on standard output.
#pragma once

#include <agones_alloc/port/event_sink.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <string>

namespace agones_alloc_server {

/// One CloudEvent a line, written by a thread of its own: a reader that stalls holds up nobody else. A batch whose lines were
/// not all written by its deadline goes on where it stopped at the next try, so that no line is ever torn.
class stdout_sink final : public agones_alloc::event_sink {
 public:
  stdout_sink(boost::asio::any_io_executor, std::string source);
  ~stdout_sink() override;

 private:
  class writer;
  void do_send(agones_alloc::event_batch_ptr, time_point, handler) override;

  std::unique_ptr<writer> writer_;
};

}  // namespace agones_alloc_server
