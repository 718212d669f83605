// A store whose answers the test gives by hand, in any order.
#pragma once

#include <agones_alloc/port/store.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test_support {

using namespace agones_alloc;

class fake_store final : public store {
 public:
  struct pending_call {
    bool is_update;
    update_request write;
    object_key key;
    store::handler done;
    std::shared_ptr<bool> withdrawn;
  };

  ~fake_store() override = default;

  auto pending() const -> std::size_t { return calls_.size(); }
  auto at(std::size_t i) -> pending_call& { return calls_.at(i); }
  /// The next write or read throws, and lets go of its handler or keeps it, to be answered yet.
  enum class failure : unsigned char { none, drops, keeps };
  void throw_next(failure how) { throws_ = how; }
  auto updates_seen() const -> std::size_t { return updates_; }
  auto reads_seen() const -> std::size_t { return reads_; }

  /// The server as the store would have it after the i-th call's write.
  auto written(std::size_t i, std::string_view version) -> game_server_ptr {
    auto server = *calls_.at(i).write.desired;
    server.meta.resource_version = version;
    return std::make_shared<game_server const>(std::move(server));
  }

  void answer(std::size_t i, error_code ec, store_result result = {}) {
    auto call = std::move(calls_.at(i));
    std::vector<pending_call> rest;  // erased handlers of Boost 1.81 cannot be assigned
    for (std::size_t at = 0; at < calls_.size(); ++at) {
      if (at != i) rest.push_back(std::move(calls_[at]));
    }
    calls_.swap(rest);
    std::move(call.done)(ec, std::move(result));
  }
  void acknowledge(std::size_t i, std::string_view version = "2") {
    store_result result;
    result.server = written(i, version);
    answer(i, {}, std::move(result));
  }
  void fail(std::size_t i, error_code ec, std::string message = {}, int code = 0) {
    store_result result;
    result.server_message = std::move(message);
    result.server_code = code;
    answer(i, ec, std::move(result));
  }
  void show(std::size_t i, game_server_ptr server) {
    store_result result;
    result.server = std::move(server);
    answer(i, {}, std::move(result));
  }

 private:
  void do_update(update_request request, store::handler done) override {
    ++updates_;
    auto of = key_of(request.base->meta);
    add({true, std::move(request), std::move(of), std::move(done), std::make_shared<bool>(false)});
  }
  void do_read(object_key of, store::handler done) override {
    ++reads_;
    add({false, {}, std::move(of), std::move(done), std::make_shared<bool>(false)});
  }
  void add(pending_call call) {
    auto const how = std::exchange(throws_, failure::none);
    if (how == failure::drops) throw std::runtime_error{"the store is broken"};
    auto slot = boost::asio::get_associated_cancellation_slot(call.done);
    if (slot.is_connected()) slot.assign([flag = call.withdrawn](boost::asio::cancellation_type) { *flag = true; });
    calls_.push_back(std::move(call));
    if (how == failure::keeps) throw std::runtime_error{"the store is broken"};
  }

  std::vector<pending_call> calls_;
  failure throws_{failure::none};
  std::size_t updates_{0};
  std::size_t reads_{0};
};

}  // namespace test_support
