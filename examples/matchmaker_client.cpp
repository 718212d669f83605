// A matchmaker in front of running servers: ids, retries, waiting, confirmation and release, each in one call.
//
//   matchmaker_client URL[,URL...] [SESSIONS [CA.crt CLIENT.crt CLIENT.key]]
//   matchmaker_client http://127.0.0.1:8080 20
//
// The URLs are replicas of one agones-alloc-server; https needs the certificates. Plays so many sessions, eight at a time: each gets
// a server of namespace `default`, keeps it for 50 ms and gives it back. Ends with 0 when every session had a server.
#include <agones_alloc/async/asio_timer.hpp>
#include <agones_alloc/beast/client/matchmaker_client.hpp>
#include <agones_alloc/beast/client/static_credentials.hpp>
#include <agones_alloc/beast/remote/endpoint.hpp>

#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace aa = agones_alloc;
using namespace std::chrono_literals;

namespace {

auto read_file(char const* path) -> std::string {
  std::ifstream in{path};
  if (!in) throw std::invalid_argument{std::string{path} + " cannot be read"};
  return {std::istreambuf_iterator<char>{in}, {}};
}

auto read_endpoints(std::string_view urls) -> std::vector<aa::client_endpoint> {
  std::vector<aa::client_endpoint> out;
  while (!urls.empty()) {
    auto const end = std::min(urls.find(','), urls.size());
    auto one = aa::parse_endpoint(urls.substr(0, end), true);
    if (auto const* const problem = std::get_if<std::string>(&one)) throw std::invalid_argument{*problem};
    out.push_back(std::get<aa::client_endpoint>(std::move(one)));
    urls.remove_prefix(std::min(end + 1, urls.size()));
  }
  return out;
}

class matchmaker {
 public:
  matchmaker(boost::asio::io_context& io, aa::matchmaker_client_options options, aa::client_credentials credentials, int sessions)
      : time_{io.get_executor()},
        client_{io.get_executor(), std::make_shared<aa::static_credentials>(io.get_executor(), std::move(credentials)), time_, random_,
                std::move(options)},
        left_{sessions} {}

  /// So many sessions at a time.
  void start(int players) {
    for (players_ = players; players > 0; --players) play();
  }
  auto served() const -> int { return served_; }

 private:
  /// The next session; when it is over, the next.
  void play() {
    if (left_ <= 0) {
      if (--players_ == 0) client_.close();  // or its kept connections would keep the loop running for a while
      return;
    }
    --left_;
    aa::ticket wish;
    wish.allocation.meta.namespace_ = "default";
    wish.allocation.spec.metadata.labels.set("example.com/session", std::to_string(left_));
    wish.wait = 30s;        // where no server is free
    wish.claim_ttl = 10s;   // should this program die before it has confirmed
    wish.timeout = 60s;     // and so long it tries again, whatever happens
    client_.async_allocate(std::move(wish), [this](aa::error_code ec, aa::ticket_result got) {
      if (ec) {
        std::printf("no server: %s: %s\n", std::string{aa::to_string(got.result)}.c_str(), got.message.c_str());
        return play();
      }
      ++served_;
      auto const& status = got.server->status;
      std::printf("%s at %s:%d after %u requests\n", got.server->meta.name.str().c_str(), status.address.str().c_str(),
                  status.ports.empty() ? 0 : static_cast<int>(status.ports.front().port), got.tries);
      time_.async_wait_until(time_.now() + 50ms, [this, id = std::move(got.id)](aa::error_code) { end(id); });
    });
  }
  void end(std::string const& id) {
    client_.async_release("default", id, aa::release_to::ready, 60s, [this](aa::error_code ec, aa::ticket_result const& ended) {
      if (ec) std::printf("not released: %s: %s\n", ec.message().c_str(), ended.message.c_str());
      for (auto const& line : ended.not_undone) std::printf("not undone: %s\n", line.c_str());
      play();
    });
  }

  aa::asio_timer time_;
  aa::seeded_random random_{std::random_device{}()};
  aa::matchmaker_client client_;
  int left_;
  int players_{0};
  int served_{0};
};

}  // namespace

auto main(int argc, char** argv) -> int {
  if (argc != 2 && argc != 3 && argc != 6) {
    std::fputs("usage: matchmaker_client URL[,URL...] [SESSIONS [CA.crt CLIENT.crt CLIENT.key]]\n", stderr);
    return 2;
  }
  try {
    aa::matchmaker_client_options options;
    options.endpoints = read_endpoints(argv[1]);
    auto const sessions = argc > 2 ? std::stoi(argv[2]) : 20;
    aa::client_credentials credentials;
    if (argc == 6) credentials.tls = {read_file(argv[3]), read_file(argv[4]), read_file(argv[5]), {}, false};
    boost::asio::io_context io{1};
    matchmaker program{io, std::move(options), std::move(credentials), sessions};
    program.start(8);
    io.run();
    std::printf("%d of %d sessions had a server\n", program.served(), sessions);
    return program.served() == sessions ? 0 : 1;
  } catch (std::exception const& e) {
    std::fprintf(stderr, "matchmaker_client: %s\n", e.what());
    return 2;
  }
}
