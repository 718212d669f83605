// Remote clusters whose answers the test gives by hand, in any order.
#pragma once

#include <agones_alloc/port/remote_allocator.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/append.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test_support {

using namespace agones_alloc;

class fake_remote final : public remote_allocator {
 public:
  explicit fake_remote(boost::asio::any_io_executor executor) : executor_{std::move(executor)} {}

  /// Whether it can be probed, from its first use on.
  bool probed{false};
  auto can_probe() const noexcept -> bool override { return probed; }
  auto probes() const -> std::size_t { return probes_.size(); }
  auto probe(std::size_t i) const -> remote_call const& { return probes_.at(i)->first; }
  void answer_probe(std::size_t i, std::string problem) {
    auto done = std::move(probes_.at(i)->second);
    auto const executor = boost::asio::get_associated_executor(done, executor_);
    boost::asio::post(executor_, [executor, p = std::move(problem), h = std::move(done)]() mutable {
      boost::asio::dispatch(executor, boost::asio::append(std::move(h), std::move(p)));
    });
  }

  /// What a withdrawn call ends as; nullopt: it goes on.
  std::optional<outcome> withdrawn_as{outcome::cancelled};

  auto calls() const -> std::size_t { return calls_.size(); }
  auto call(std::size_t i) const -> remote_call const& { return calls_.at(i)->call; }
  auto withdrawn(std::size_t i) const -> bool { return calls_.at(i)->withdrawn; }
  auto pending() const -> std::size_t {
    std::size_t out = 0;
    for (auto const& one : calls_) out += one->done.has_value() ? 1 : 0;
    return out;
  }

  void answer(std::size_t i, remote_result result) {
    auto& of = *calls_.at(i);
    if (!of.done) throw std::logic_error{"this call is answered already"};
    auto done = std::move(*of.done);
    of.done.reset();
    auto const executor = boost::asio::get_associated_executor(done, executor_);
    boost::asio::post(executor_, [executor, r = std::move(result), h = std::move(done)]() mutable {
      boost::asio::dispatch(executor, boost::asio::append(std::move(h), std::move(r)));
    });
  }
  void answer(std::size_t i, outcome result, std::string_view message = {}) {
    remote_result out;
    out.result = result;
    out.message = message;
    answer(i, std::move(out));
  }
  void allocate(std::size_t i, std::string_view name) {
    game_server server;
    server.meta.name = name;
    server.meta.namespace_ = call(i).namespace_;
    remote_result out;
    out.result = outcome::allocated;
    out.server = std::make_shared<game_server const>(std::move(server));
    answer(i, std::move(out));
  }

 private:
  struct pending_call {
    remote_call call;
    std::optional<handler> done;
    bool withdrawn{false};
  };

  void do_allocate(remote_call call, handler done) override {
    auto const made = std::make_shared<pending_call>();
    calls_.push_back(made);
    made->call = std::move(call);
    auto slot = boost::asio::get_associated_cancellation_slot(done);
    if (slot.is_connected()) {
      slot.assign([this, made, i = calls_.size() - 1](boost::asio::cancellation_type) {
        made->withdrawn = true;
        if (made->done && withdrawn_as) answer(i, *withdrawn_as);
      });
    }
    made->done.emplace(std::move(done));
  }

  void do_probe(remote_call call, probe_handler done) override {
    probes_.push_back(std::make_shared<std::pair<remote_call, probe_handler>>(std::move(call), std::move(done)));
  }

  boost::asio::any_io_executor executor_;
  std::vector<std::shared_ptr<std::pair<remote_call, probe_handler>>> probes_;
  std::vector<std::shared_ptr<pending_call>> calls_;
};

}  // namespace test_support
