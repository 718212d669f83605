// A client and a scripted server on one loop, with a clock that the test rules.
#pragma once

#include "scripted_server.hpp"

#include <agones_alloc/async/manual_timer.hpp>
#include <agones_alloc/beast/client/pooled_http_client.hpp>
#include <agones_alloc/beast/client/static_credentials.hpp>
#include <agones_alloc/port/logger.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace beast_test {

using namespace agones_alloc;
using namespace std::chrono_literals;

struct listening final : logger {
  void log(severity, std::string_view message, std::initializer_list<field> fields) override {
    std::string line{message};
    for (auto const& [name, value] : fields) line.append(" ").append(name).append("=").append(value);
    lines.push_back(std::move(line));
  }
  std::vector<std::string> lines;
};

/// A request on its way.
struct asked {
  bool done{false};
  error_code ec;
  client_response response;
  boost::asio::cancellation_signal cancel;
};

struct opened {
  bool done{false};
  error_code ec;
  std::unique_ptr<response_stream> stream;
  boost::asio::cancellation_signal cancel;
};

struct client_fixture {
  explicit client_fixture(client_options options = {}, boost::asio::ssl::context* tls = nullptr, tls_identity identity = {},
                          std::string host = "127.0.0.1")
      : server{io, tls},
        credentials{std::make_shared<static_credentials>(io.get_executor(), client_credentials{std::move(identity), {}})} {
    client_endpoint endpoint;
    endpoint.host = std::move(host);
    endpoint.port = server.port();
    endpoint.tls = tls != nullptr;
    client.emplace(io.get_executor(), endpoint, credentials, time, std::move(options), &log);
  }
  ~client_fixture() {
    client.reset();
    settle(io);
    CHECK(time.pending() == 0);
    server.close_all();
  }

  auto ask(client_request request) -> std::shared_ptr<asked> {
    auto out = std::make_shared<asked>();
    client->async_request(std::move(request), boost::asio::bind_cancellation_slot(
                                                  out->cancel.slot(), [out](error_code ec, client_response response) {
                                                    CHECK_FALSE(out->done);
                                                    out->done = true;
                                                    out->ec = ec;
                                                    out->response = std::move(response);
                                                  }));
    CHECK_FALSE(out->done);
    return out;
  }
  auto open(client_request request) -> std::shared_ptr<opened> {
    auto out = std::make_shared<opened>();
    client->async_stream(std::move(request),
                         boost::asio::bind_cancellation_slot(
                             out->cancel.slot(), [out](error_code ec, std::unique_ptr<response_stream> stream) {
                               CHECK_FALSE(out->done);
                               out->done = true;
                               out->ec = ec;
                               out->stream = std::move(stream);
                             }));
    CHECK_FALSE(out->done);
    return out;
  }
  void until(std::function<bool()> const& done) { run_until(io, done); }
  void wait(asked& one) {
    until([&] { return one.done; });
  }
  void wait(opened& one) {
    until([&] { return one.done; });
  }
  /// A whole exchange.
  auto ok(client_request request, std::size_t connection = 0, std::string_view body = "fine") -> bool {
    auto const one = ask(std::move(request));
    server.at(connection).request();
    server.at(connection).answer(200, body);
    wait(*one);
    return !one->ec && one->response.status == 200 && one->response.body == body;
  }

  boost::asio::io_context io;
  manual_timer time{io.get_executor()};
  listening log;
  scripted_server server;
  std::shared_ptr<static_credentials> credentials;
  std::optional<pooled_http_client> client;
};

inline auto get_request(std::string target = "/x") -> client_request {
  client_request out;
  out.target = std::move(target);
  return out;
}
inline auto patch_request(std::string body = "{}") -> client_request {
  client_request out;
  out.method = "PATCH";
  out.target = "/x";
  out.content_type = "application/merge-patch+json";
  out.body = std::move(body);
  return out;
}

}  // namespace beast_test
