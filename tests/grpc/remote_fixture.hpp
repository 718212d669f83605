// A remote allocator over gRPC and what it calls, on loops of their own.
#pragma once

#include "../beast/certificates.hpp"
#include "../beast/scratch_folder.hpp"
#include "../support/servers.hpp"
#include "grpc_fixture.hpp"

#include <agones_alloc/beast/tls/tls_server.hpp>
#include <agones_alloc/grpc/grpc_remote_allocator.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace grpc_test {

/// One Secret, which the test may change.
struct one_secret final : secret_source {
  explicit one_secret(boost::asio::any_io_executor e) : executor{std::move(e)} {}
  void do_get(std::string, std::string name, handler done) override {
    secret_data out = data;
    error_code const ec = out.entries.empty() ? error_code{errc::not_found} : error_code{};
    if (ec) out.problem = "no " + name;
    boost::asio::post(executor, [done = std::move(done), ec, out = std::move(out)]() mutable { std::move(done)(ec, std::move(out)); });
  }
  boost::asio::any_io_executor executor;
  secret_data data;
};

/// Keeps every reply of a served handler, and tells when one has come and when its client has left.
struct kept_replies {
  explicit kept_replies(served& in) {
    in.handler.act = [this](http_request const&, http_handler::reply done) {
      auto slot = boost::asio::get_associated_cancellation_slot(done);
      slot.assign([this](boost::asio::cancellation_type) { left.set_value(); });
      replies.push_back(std::make_unique<http_handler::reply>(std::move(done)));
      come.set_value();
    };
  }
  std::promise<void> come;
  std::promise<void> left;
  std::vector<std::unique_ptr<http_handler::reply>> replies;
};

struct pending {
  std::optional<remote_result> got;
  boost::asio::cancellation_signal stop;
};

/// Its loop runs only while the test waits for something.
struct calling {
  explicit calling(std::string to, grpc_remote_options options = {}) : endpoint{std::move(to)} {
    options.allow_plaintext = true;
    if (options.connect_time == grpc_remote_options{}.connect_time) options.connect_time = std::chrono::seconds{30};
    remote.emplace(io.get_executor(), &secrets, time, options);
  }
  ~calling() {
    remote.reset();
    work.reset();
    io.run();
  }
  auto call() const -> remote_call {
    remote_call out;
    out.cluster = "east";
    out.endpoint = endpoint;
    out.namespace_ = "games";
    out.allocation =
        std::make_shared<game_server_allocation const>(test_support::compile_request(test_support::fleet_allocation())->allocation());
    out.deadline = time.now() + std::chrono::minutes{5};
    out.request_id = "id-1";
    return out;
  }
  auto ask(remote_call c) -> std::shared_ptr<pending> {
    auto out = std::make_shared<pending>();
    remote->async_allocate(std::move(c), boost::asio::bind_cancellation_slot(out->stop.slot(), [out](remote_result r) {
                             CHECK_FALSE(out->got.has_value());
                             out->got.emplace(std::move(r));
                           }));
    CHECK_FALSE(out->got.has_value());
    return out;
  }
  auto wait(std::shared_ptr<pending> const& one) -> remote_result {
    while (!one->got) io.run_one();
    return *one->got;
  }
  auto told(remote_call c) -> remote_result { return wait(ask(std::move(c))); }
  auto told() -> remote_result { return told(call()); }
  auto probe(std::chrono::nanoseconds within = std::chrono::minutes{5}) -> std::string {
    std::optional<std::string> out;
    auto wanted = call();
    wanted.allocation = nullptr;
    wanted.deadline = time.now() + within;
    remote->async_probe(std::move(wanted), [&out](std::string problem) { out = std::move(problem); });
    CHECK_FALSE(out.has_value());
    while (!out) io.run_one();
    return *out;
  }
  auto state() -> remote_endpoint_state {
    std::optional<std::vector<remote_endpoint_state>> out;
    remote->async_endpoints([&out](std::vector<remote_endpoint_state> all) { out = std::move(all); });
    while (!out) io.run_one();
    REQUIRE(out->size() == 1);
    return out->front();
  }
  /// Lets what is under way go on until the other side has done something.
  template <class T>
  void until(std::future<T> const& done) {
    while (done.wait_for(std::chrono::seconds{0}) != std::future_status::ready) io.run_one_for(std::chrono::milliseconds{10});
  }

  boost::asio::io_context io;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{io.get_executor()};
  asio_timer time{io.get_executor()};
  one_secret secrets{io.get_executor()};
  std::string endpoint;
  std::optional<grpc_remote_allocator> remote;
};

inline auto plain(served const& far) -> std::string { return "grpc+http://" + far.place(); }
inline auto holds(std::string_view text, std::string_view part) -> bool { return text.find(part) != std::string_view::npos; }

}  // namespace grpc_test
