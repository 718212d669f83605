// Hosts with several addresses, of which some are dead.
#include "client_fixture.hpp"

#include <list>

#include <sys/socket.h>

using namespace beast_test;

namespace {

/// An address whose port takes no more connections and does not say so: who connects gets no answer.
class hole {
 public:
  hole(boost::asio::io_context& io, std::string const& address, std::uint16_t port) : acceptor_{io} {
    tcp::endpoint const at{boost::asio::ip::make_address(address), port};
    acceptor_.open(at.protocol());
    acceptor_.bind(at);
    acceptor_.listen(0);
    for (int i = 0; i != 4; ++i) {
      auto& one = fillers_.emplace_back(io);
      one.open(at.protocol());
      one.non_blocking(true);
      static_cast<void>(::connect(one.native_handle(), at.data(), static_cast<socklen_t>(at.size())));
    }
  }

 private:
  tcp::acceptor acceptor_;
  std::list<tcp::socket> fillers_;
};

auto holds(std::string_view text, std::string_view part) -> bool { return text.find(part) != std::string_view::npos; }

struct several_addresses : client_fixture {
  explicit several_addresses(std::vector<std::string> addresses, client_options options = {}) {
    client_endpoint endpoint;
    endpoint.host = "host.example";
    endpoint.port = server.port();
    endpoint.tls = false;
    endpoint.addresses = std::move(addresses);
    client.emplace(io.get_executor(), endpoint, credentials, time, options, &log);
  }
};

}  // namespace

TEST_CASE("The next address is tried beside one that does not answer, and goes first from then on") {
  several_addresses f{{"127.0.0.2", "127.0.0.1"}};
  hole const dead{f.io, "127.0.0.2", f.server.port()};
  auto const one = f.ask(get_request());
  settle(f.io);
  CHECK(f.server.connections() == 0);
  f.time.advance(250ms);
  CHECK(holds(f.server.at(0).request(), "Host: host.example"));
  f.server.at(0).answer(200, "x");
  f.wait(*one);
  CHECK_FALSE(one->ec);
  f.server.at(0).close();
  auto const two = f.ask(get_request());
  f.server.at(1).request();  // without any time passing
  f.server.at(1).answer(200, "x");
  f.wait(*two);
  CHECK_FALSE(two->ec);
}

TEST_CASE("An address that refuses is followed by the next at once") {
  several_addresses f{{"127.0.0.3", "127.0.0.2", "127.0.0.1"}};
  auto const one = f.ask(get_request());
  f.server.at(0).request();
  f.server.at(0).answer(200, "x");
  f.wait(*one);
  CHECK_FALSE(one->ec);
}

TEST_CASE("When no address answers the time to connect is what it takes, and none that refuses hides another") {
  several_addresses f{{"127.0.0.2", "127.0.0.3"}};
  hole const dead{f.io, "127.0.0.2", f.server.port()};
  auto const one = f.ask(get_request());
  settle(f.io);
  f.time.advance(250ms);
  settle(f.io);  // the second refuses; the first may answer still
  CHECK_FALSE(one->done);
  f.time.advance(client_times{}.connect - 251ms);
  settle(f.io);
  CHECK_FALSE(one->done);
  f.time.advance(1ms);
  f.wait(*one);
  CHECK(one->ec == errc::unavailable);
  CHECK(holds(one->response.reason, "connect: "));
}

TEST_CASE("A short time to connect is shared between the addresses") {
  client_options options;
  options.times.connect = 100ms;
  several_addresses f{{"127.0.0.2", "127.0.0.1"}, options};
  hole const dead{f.io, "127.0.0.2", f.server.port()};
  auto const one = f.ask(get_request());
  settle(f.io);
  f.time.advance(50ms);
  f.server.at(0).request();
  f.server.at(0).answer(200, "x");
  f.wait(*one);
  CHECK_FALSE(one->ec);
}
