// Lists and watches a source, and keeps what it answers.
#pragma once

#include <agones_alloc/port/server_source.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace test_support {

/// A base of fixtures, which make the source and let it go before what it stands on.
struct source_probe {
  boost::asio::io_context context;
  std::unique_ptr<agones_alloc::server_source> source;
  std::optional<agones_alloc::error_code> ec;  ///< of the last call; nullopt: it goes on
  agones_alloc::server_list listed;
  agones_alloc::server_events heard;
  boost::asio::cancellation_signal leave;

  void run() {
    context.restart();
    context.poll();
  }
  void list() {
    ec.reset();
    auto keep = [this](agones_alloc::error_code e, agones_alloc::server_list l) {
      ec = e;
      listed = std::move(l);
    };
    source->async_list(boost::asio::bind_cancellation_slot(leave.slot(), keep));
    run();
  }
  void watch(std::string from) {
    ec.reset();
    auto keep = [this](agones_alloc::error_code e, agones_alloc::server_events h) {
      ec = e;
      heard = std::move(h);
    };
    source->async_watch(std::move(from), boost::asio::bind_cancellation_slot(leave.slot(), keep));
    run();
  }
};

}  // namespace test_support
