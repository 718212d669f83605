#include <agones_alloc/async/asio_timer.hpp>
#include <agones_alloc/beast/client/pooled_http_client.hpp>
#include <agones_alloc/beast/client/static_credentials.hpp>
#include <agones_alloc/beast/http_listener.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <doctest/doctest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace agones_alloc;

namespace {

struct echo final : http_handler {
  void handle(http_request const& request, reply done) override {
    http_response out;
    out.body = std::string{request.body};
    std::move(done)(std::move(out));
  }
};

}  // namespace

TEST_CASE("Requests may be made and cancelled on any thread, and complete where their handlers want to") {
  boost::asio::io_context serving;
  boost::asio::io_context working;
  boost::asio::io_context mine;
  asio_timer serving_time{serving.get_executor()};
  asio_timer time{working.get_executor()};
  echo answers;
  http_listener listener{serving.get_executor(), answers, serving_time};
  REQUIRE_FALSE(listener.listen("127.0.0.1", 0));
  auto const strand = boost::asio::make_strand(working);
  client_options options;
  options.limits.connections = 4;
  auto client = std::make_unique<pooled_http_client>(
      strand, client_endpoint{"127.0.0.1", listener.port(), false, {}}, std::make_shared<static_credentials>(strand), time,
      options);
  std::vector<std::thread> threads;
  auto serving_guard = boost::asio::make_work_guard(serving);
  auto working_guard = boost::asio::make_work_guard(working);
  threads.emplace_back([&] { serving.run(); });
  threads.emplace_back([&] { working.run(); });
  threads.emplace_back([&] { working.run(); });

  constexpr int count = 200;
  int answered = 0;
  int ended = 0;
  std::vector<std::unique_ptr<boost::asio::cancellation_signal>> signals;
  auto const here = std::this_thread::get_id();
  auto mine_guard = boost::asio::make_work_guard(mine);
  for (int i = 0; i < count; ++i) {
    client_request request;
    request.method = "POST";
    request.target = "/";
    request.body = std::to_string(i);
    signals.push_back(std::make_unique<boost::asio::cancellation_signal>());
    auto handler = [&, i](error_code ec, client_response response) {
      CHECK(std::this_thread::get_id() == here);
      if (!ec) {
        CHECK(response.body == std::to_string(i));
        ++answered;
      } else {
        CHECK(i % 4 == 0);
        CHECK((ec == errc::cancelled || ec == errc::outcome_unknown));
      }
      if (++ended == count) mine_guard.reset();
    };
    client->async_request(std::move(request),
                          boost::asio::bind_cancellation_slot(signals.back()->slot(),
                                                              boost::asio::bind_executor(mine, std::move(handler))));
    if (i % 4 == 0) signals.back()->emit(boost::asio::cancellation_type::terminal);
  }
  mine.run_for(std::chrono::seconds{60});
  CHECK(ended == count);
  CHECK(answered >= count / 4 * 3);
  client.reset();
  std::promise<void> closed;
  boost::asio::post(serving, [&] {
    listener.close();
    closed.set_value();
  });
  closed.get_future().wait();
  serving_guard.reset();
  working_guard.reset();
  for (auto& one : threads) one.join();
}
