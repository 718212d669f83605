// Measures events to a sink that stalls: build/benchmarks/events --json [--rate R] [--stall S] [--servers N] [--queue Q] [--batch B]
//
// R changes a second of N game servers are fed to an event_publisher whose webhook answers nothing for S seconds from its first
// delivery on, then at once; for as long as it takes until S seconds and a fifth have passed. One line of JSON:
//   feed_ns           what one change costs whoever feeds, mean
//   fed_per_second    changes that were fed in a second: R, if feeding keeps up
//   waiting_most      events in the queue at most; queue: the bound
//   bytes_most        memory that they held at most, as the queue estimates; queue_bytes: the bound
//   memory_growth_mib growth of the process's memory over the whole run, from when all servers were known
//   offered, sent, merged, dropped, refused, retries
//   drain_seconds     from the end of feeding until nothing waits
//   counted           offered = sent + merged + dropped + refused
//   newest_missing    servers whose newest state the webhook was not told, less what was dropped: 0 is right
#include <agones_alloc/async/asio_timer.hpp>
#include <agones_alloc/async/event_publisher.hpp>
#include <agones_alloc/beast/client/pooled_http_client.hpp>
#include <agones_alloc/beast/client/static_credentials.hpp>
#include <agones_alloc/beast/webhook/webhook_sink.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

using namespace agones_alloc;
using clock_type = std::chrono::steady_clock;
namespace http = boost::beast::http;
using tcp = boost::asio::ip::tcp;

struct settings {
  double rate{50'000};
  double stall{30};
  std::size_t servers{20'000};
  std::size_t queue{100'000};
  std::size_t queue_bytes{128UL * 1024 * 1024};
  std::size_t batch{200};
};

auto resident_mib() -> double {
  std::ifstream in{"/proc/self/statm"};
  std::size_t all = 0;
  std::size_t resident = 0;
  in >> all >> resident;
  return static_cast<double>(resident) * 4096 / (1024 * 1024);
}

/// A webhook that remembers the newest version of each server. Its first answer comes late.
class receiver {
 public:
  explicit receiver(double stall) : stall_{stall}, acceptor_{io_, {boost::asio::ip::address_v4::loopback(), 0}} {
    thread_ = std::thread{[this] { serve(); }};
  }
  ~receiver() {
    stopping_ = true;
    boost::system::error_code ignored;
    tcp::socket waker{io_};
    waker.connect(acceptor_.local_endpoint(), ignored);  // out of accept()
    thread_.join();
  }
  auto port() const -> std::uint16_t { return acceptor_.local_endpoint().port(); }
  auto newest(std::string const& uid) -> std::uint64_t {
    std::lock_guard const lock{mutex_};
    auto const at = newest_.find(uid);
    return at == newest_.end() ? 0 : at->second;
  }

 private:
  void serve() {
    while (!stopping_) {
      boost::system::error_code ec;
      tcp::socket socket{io_};
      acceptor_.accept(socket, ec);
      if (ec || stopping_) return;
      boost::beast::flat_buffer buffer;
      while (!ec && !stopping_) {
        http::request_parser<http::string_body> parser;
        parser.body_limit(256UL * 1024 * 1024);
        http::read(socket, buffer, parser, ec);
        if (ec) break;
        if (!std::exchange(stalled_, true)) std::this_thread::sleep_for(std::chrono::duration<double>{stall_});
        read(parser.get().body());
        http::response<http::empty_body> answer{http::status::no_content, 11};
        answer.keep_alive(true);
        http::write(socket, answer, ec);
      }
    }
  }
  void read(std::string const& body) {
    static constexpr std::string_view key = R"("partitionkey":")";
    static constexpr std::string_view version = R"("resourceversion":")";
    std::lock_guard const lock{mutex_};
    for (auto at = body.find(key); at != std::string::npos; at = body.find(key, at + 1)) {
      auto const begin = at + key.size();
      auto uid = body.substr(begin, body.find('"', begin) - begin);
      auto const number = body.find(version, begin) + version.size();
      std::uint64_t value = 0;
      std::from_chars(body.data() + number, body.data() + body.size(), value);
      auto& newest = newest_[std::move(uid)];
      newest = std::max(newest, value);
    }
  }

  double stall_;
  boost::asio::io_context io_;
  tcp::acceptor acceptor_;
  std::atomic<bool> stopping_{false};
  bool stalled_{false};
  std::mutex mutex_;
  std::unordered_map<std::string, std::uint64_t> newest_;
  std::thread thread_;
};

auto server_of(std::size_t index, std::uint64_t version) -> game_server_ptr {
  auto out = std::make_shared<game_server>();
  auto const number = std::to_string(index);
  out->meta.name = "arena-x7k2p-" + number;
  out->meta.namespace_ = "default";
  out->meta.uid = "7b0e6b1c-9b1e-4a59-8a0e-" + number;
  out->meta.resource_version = std::to_string(version);
  out->meta.labels = string_map{{"agones.dev/fleet", "arena"}, {"agones.dev/gameserverset", "arena-x7k2p"}, {"version", "1.4.2"}};
  out->meta.annotations.set("agones.dev/sdk-version", "1.40.0");
  out->status.state = version % 3 == 0 ? game_server_state::allocated : game_server_state::ready;
  out->status.address = "10.0.0.17";
  out->status.node_name = "node-17";
  out->status.ports.push_back({"default", 7777});
  out->status.counters["sessions"] = {static_cast<std::int64_t>(version % 10), 10};
  return out;
}

class run {
 public:
  explicit run(settings const& how) : how_{how}, hook_{how.stall}, newest_(how.servers) {
    client_endpoint endpoint;
    endpoint.host = "127.0.0.1";
    endpoint.port = hook_.port();
    endpoint.tls = false;
    client_options client;
    client.times.first_byte = std::chrono::hours{1};
    client.limits.request_bytes = 256UL * 1024 * 1024;
    client_.emplace(io_.get_executor(), endpoint, std::make_shared<static_credentials>(io_.get_executor()), timer_, client);
    event_channel_options channel;
    channel.name = "hook";
    channel.time = std::chrono::seconds{10};
    channel.delivery.queue = {how.queue, how.queue_bytes, how.queue / 10};
    channel.delivery.batch = how.batch;
    publisher_.add(std::make_shared<webhook_sink>(*client_, timer_, webhook_options{"/", "/benchmark", webhook_mode::batched}), channel);
  }

  /// True when all is as it should be.
  auto measure(bool json) -> bool {
    for (std::size_t i = 0; i != how_.servers; ++i) change(i);
    auto const memory = resident_mib();
    auto most = memory;
    auto const begin = clock_type::now();
    auto const length = how_.stall * 1.2;
    std::uint64_t fed = 0;
    std::chrono::nanoseconds feeding{0};
    double passed = 0;
    while ((passed = seconds_since(begin)) < length) {
      auto const due = static_cast<std::uint64_t>(how_.rate * passed);
      for (int burst = 0; fed < due && burst != 1000; ++burst) {
        // A scattered walk that comes to every server equally often.
        auto const index = static_cast<std::size_t>(fed * 7919 % how_.servers);
        auto const server = server_of(index, ++newest_[index]);
        auto const before = clock_type::now();
        publisher_.stored(server);
        feeding += clock_type::now() - before;
        ++fed;
      }
      io_.restart();
      io_.poll();
      look(most);
    }
    auto const end = clock_type::now();
    auto const fed_rate = static_cast<double>(fed) / passed;
    while (!idle()) {
      io_.restart();
      io_.run_for(std::chrono::milliseconds{5});
      if (seconds_since(end) > 300) break;
    }
    auto const drained = seconds_since(end);
    auto const c = publisher_.counts().front().of;
    auto const counted = c.offered == c.sent + c.merged + c.dropped + c.refused;
    std::uint64_t missing = 0;
    for (std::size_t i = 0; i != how_.servers; ++i) missing += hook_.newest(server_of(i, 1)->meta.uid.str()) != newest_[i];
    missing -= std::min(missing, c.dropped);
    auto const bounded = waiting_most_ <= how_.queue && bytes_most_ <= how_.queue_bytes;
    auto const* const format =
        json ? "{\"rate\":%.0f,\"stall_seconds\":%.1f,\"servers\":%zu,\"queue\":%zu,\"queue_bytes\":%zu,\"feed_ns\":%.0f,"
               "\"fed_per_second\":%.0f,\"waiting_most\":%zu,\"bytes_most\":%zu,\"memory_growth_mib\":%.1f,\"offered\":%llu,"
               "\"sent\":%llu,\"merged\":%llu,\"dropped\":%llu,\"refused\":%llu,\"retries\":%llu,\"drain_seconds\":%.2f,"
               "\"counted\":%s,\"newest_missing\":%llu}\n"
             : "%.0f/s, stall %.1f s, %zu servers, queue %zu events %zu bytes: feed %.0f ns, %.0f/s fed, at most %zu events %zu bytes "
               "wait, memory +%.1f MiB, offered %llu = sent %llu + merged %llu + dropped %llu + refused %llu, retries %llu, drained in "
               "%.2f s, counted: %s, newest missing: %llu\n";
    auto const wide = [](auto n) { return static_cast<unsigned long long>(n); };
    std::printf(format, how_.rate, how_.stall, how_.servers, how_.queue, how_.queue_bytes,
                static_cast<double>(feeding.count()) / static_cast<double>(std::max<std::uint64_t>(fed, 1)), fed_rate, waiting_most_,
                bytes_most_, most - memory, wide(c.offered), wide(c.sent), wide(c.merged), wide(c.dropped), wide(c.refused),
                wide(c.retries), drained, counted ? "true" : "false", wide(missing));
    return counted && bounded && missing == 0;
  }

 private:
  static auto seconds_since(clock_type::time_point then) -> double {
    return std::chrono::duration<double>(clock_type::now() - then).count();
  }
  void change(std::size_t index) { publisher_.stored(server_of(index, ++newest_[index])); }
  auto idle() -> bool {
    auto const c = publisher_.counts().front().of;
    return c.waiting == 0 && c.in_flight == 0;
  }
  void look(double& most) {
    auto const c = publisher_.counts().front().of;
    waiting_most_ = std::max(waiting_most_, c.waiting);
    bytes_most_ = std::max(bytes_most_, c.waiting_bytes);
    if (++looks_ % 256 == 0) most = std::max(most, resident_mib());
  }

  settings how_;
  receiver hook_;
  boost::asio::io_context io_{1};
  asio_timer timer_{io_.get_executor()};
  seeded_random random_{1};
  std::optional<pooled_http_client> client_;
  event_publisher publisher_{io_.get_executor(), timer_, random_};
  std::vector<std::uint64_t> newest_;
  std::size_t waiting_most_{0};
  std::size_t bytes_most_{0};
  std::uint64_t looks_{0};
};

}  // namespace

auto main(int argc, char** argv) -> int {
  settings how;
  bool json = false;
  CLI::App app{"Measures events to a webhook that stalls."};
  app.add_flag("--json", json, "One JSON object");
  app.add_option("--rate", how.rate, "Changes a second")->check(CLI::Range(1.0, 1e7))->capture_default_str();
  app.add_option("--stall", how.stall, "Seconds without an answer")->check(CLI::Range(0.0, 3600.0))->capture_default_str();
  app.add_option("--servers", how.servers, "Game servers")->check(CLI::Range(1, 10'000'000))->capture_default_str();
  app.add_option("--queue", how.queue, "Events that wait at most")->check(CLI::Range(1, 100'000'000))->capture_default_str();
  app.add_option("--batch", how.batch, "Events in a delivery")->check(CLI::Range(1, 10'000))->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    return run{how}.measure(json) ? 0 : 1;
  } catch (std::exception const& e) {
    std::fprintf(stderr, "events: %s\n", e.what());
    return 1;
  }
}
