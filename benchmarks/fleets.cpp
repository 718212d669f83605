// What does fleet information cost, and how soon is it told?
//
//  change     a game server that changes, in a table of many, with nobody watching
//  allocate   allocations in this process with the directory fed, next to the same without
//  query      how many servers are there for a request whose shape is in use
//  snapshot   GET /v1/fleets over loopback, next to a server that sends the same bytes from memory
//  stream     consumers that are told of random changes; some look at when, some read nothing
//
// The first three are processor time of their one thread; the others are by the clock, server and clients on the same machine.
#include "apart.hpp"
#include "fleets/crowd.hpp"
#include "fleets/listeners.hpp"
#include "fleets/servers.hpp"
#include "fleets/settings.hpp"
#include "median.hpp"
#include "running_loop.hpp"

#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/async/asio_timer.hpp>
#include <agones_alloc/async/fleet_directory.hpp>
#include <agones_alloc/async/memory_store.hpp>
#include <agones_alloc/beast/fleets/fleets_front_end.hpp>
#include <agones_alloc/beast/http_listener.hpp>
#include <agones_alloc/json/fleet_info.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace agones_alloc;
using bench::fleet_settings;
namespace asio = boost::asio;
using clock_type = std::chrono::steady_clock;

using bench::make_server;
using bench::median;
using bench::quick_random;

/// Of this thread's processor: what one thread does on its own, whoever else has the machine meanwhile.
auto processor_seconds() -> double {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

auto seconds_since(clock_type::time_point begin) -> double {
  return std::chrono::duration<double>{clock_type::now() - begin}.count();
}

/// Nanoseconds of a change, publications included.
auto measure_change(fleet_settings const& how) -> double {
  asio::io_context io{1};
  asio_timer time{io.get_executor()};
  fleet_directory directory{io.get_executor(), time};
  std::vector<game_server_ptr> servers;
  for (std::size_t i = 0; i != how.servers; ++i) servers.push_back(std::make_shared<game_server const>(make_server(i, how.fleets)));
  directory.replaced(servers, "1");
  io.poll();
  // The values are made before: they are what a watch brings anyway.
  constexpr std::size_t batch = 10'000;
  quick_random random;
  double took = 0;
  std::size_t version = 1;
  for (std::size_t done = 0; done < how.changes; done += batch) {
    std::vector<game_server_ptr> next;
    next.reserve(batch);
    for (std::size_t i = 0; i != batch; ++i) {
      auto& server = servers[random.below(servers.size())];
      auto changed = *server;
      changed.meta.resource_version = std::to_string(++version);
      changed.status.state = changed.status.state == game_server_state::ready ? game_server_state::allocated : game_server_state::ready;
      server = std::make_shared<game_server const>(std::move(changed));
      next.push_back(server);
    }
    auto const begin = processor_seconds();
    for (auto const& one : next) directory.stored(one);
    io.restart();
    io.poll();
    took += processor_seconds() - begin;
  }
  return took * 1e9 / static_cast<double>((how.changes + batch - 1) / batch * batch);
}

auto wanted(std::string const& fleet) -> request_ptr {
  game_server_allocation gsa;
  gsa.meta.namespace_ = "default";
  game_server_selector selector;
  if (!fleet.empty()) selector.labels.match_labels.set(keys::fleet_label, fleet);
  gsa.spec.selectors.push_back(std::move(selector));
  return std::get<request_ptr>(allocation_request::make(std::move(gsa)));
}

/// Nanoseconds of an allocation in this process, 64 callers at a time.
auto measure_allocations(fleet_settings const& how, bool with_directory) -> double {
  asio::io_context io{1};
  asio_timer time{io.get_executor()};
  memory_store store{io.get_executor(), memory_store_options{.clock = &time}};
  ready_cache cache;
  fleet_directory directory{io.get_executor(), time};
  std::vector<game_server_ptr> all;
  for (std::size_t i = 0; i != how.allocations + 64; ++i) {
    all.push_back(store.create(make_server(i, 10)).value());
    cache.store(all.back());
  }
  if (with_directory) directory.replaced(all, "1");
  all.clear();
  seeded_random random{1};
  allocator_ports ports;
  if (with_directory) ports.observer = &directory;
  allocator allocates{io.get_executor(), cache, store, time, random, {}, ports};
  auto const request = wanted({});
  std::size_t left = how.allocations;
  std::size_t failed = 0;
  std::size_t done = 0;
  std::function<void()> next = [&] {
    if (left == 0) return;
    --left;
    allocates.async_allocate(request, allocate_options{}, [&](error_code ec, allocation_result const&) {
      if (ec) ++failed;
      ++done;
      next();
    });
  };
  auto const begin = processor_seconds();
  for (int i = 0; i != 64; ++i) next();
  while (done != how.allocations) io.run_one();  // not to the end: the directory still waits for its interval
  auto const took = processor_seconds() - begin;
  if (failed != 0) {
    std::fprintf(stderr, "fleets: %zu allocations failed\n", failed);
    std::exit(1);
  }
  return took * 1e9 / static_cast<double>(how.allocations);
}

/// Nanoseconds of a question for room, one after the other.
auto measure_query(fleet_settings const& how) -> double {
  asio::io_context io{1};
  asio_timer time{io.get_executor()};
  memory_store store{io.get_executor(), memory_store_options{.clock = &time}};
  ready_cache cache;
  for (std::size_t i = 0; i != how.servers; ++i) cache.store(store.create(make_server(i, how.fleets)).value());
  seeded_random random{1};
  allocator allocates{io.get_executor(), cache, store, time, random};
  auto const request = wanted("f7");
  auto const expected = (how.servers + how.fleets - 8) / how.fleets;
  std::size_t left = how.queries;
  std::size_t wrong = 0;
  std::function<void()> next = [&] {
    allocate_options call;
    call.room = std::make_shared<room_report>();
    allocates.async_decide(request, call, [&, room = call.room](error_code, allocation_result const&) {
      if (room->fits != expected) ++wrong;
      if (--left != 0) next();
    });
  };
  next();
  while (left == how.queries) io.run_one();  // the view is there now
  auto const begin = processor_seconds();
  io.run();
  auto const took = processor_seconds() - begin;
  if (wrong != 0) {
    std::fprintf(stderr, "fleets: %zu questions had a wrong answer\n", wrong);
    std::exit(1);
  }
  return took * 1e9 / static_cast<double>(how.queries);
}

/// Sends the same body to everybody.
struct fixed_answer final : http_handler {
  void handle(http_request const&, reply done) override { std::move(done)(json_response(200, body)); }
  std::string body;
};

/// Answers a second of a server on its own thread, 4 connections at a time.
auto load(fleet_settings const& how, std::uint16_t port) -> double {
  asio::io_context io{1};
  std::size_t left = how.snapshots;
  struct client {
    explicit client(asio::io_context& in) : socket{in} {}
    asio::ip::tcp::socket socket;
    std::vector<char> buffer = std::vector<char>(1 << 18);
    std::string head;
    std::size_t missing{0};
    bool in_body{false};
  };
  std::vector<std::unique_ptr<client>> clients;
  std::function<void(client&)> ask;
  std::function<void(client&)> read;
  std::string const request = "GET /v1/fleets HTTP/1.1\r\nHost: localhost\r\n\r\n";
  ask = [&](client& c) {
    if (left == 0) return;
    --left;
    c.head.clear();
    c.in_body = false;
    asio::async_write(c.socket, asio::buffer(request), [&](error_code ec, std::size_t) {
      if (!ec) read(c);
    });
  };
  read = [&](client& c) {
    c.socket.async_read_some(asio::buffer(c.buffer), [&](error_code ec, std::size_t size) {
      if (ec) {
        std::fputs("fleets: a connection was lost\n", stderr);
        std::exit(1);
      }
      std::size_t at = 0;
      if (!c.in_body) {
        c.head.append(c.buffer.data(), size);
        auto const end = c.head.find("\r\n\r\n");
        if (end == std::string::npos) return read(c);
        auto const field = c.head.find("Content-Length: ");
        c.missing = std::stoul(c.head.substr(field + 16));
        c.in_body = true;
        at = size - (c.head.size() - end - 4);
      }
      c.missing -= size - at;
      c.missing == 0 ? ask(c) : read(c);
    });
  };
  for (int i = 0; i != 4; ++i) {
    clients.push_back(std::make_unique<client>(io));
    clients.back()->socket.connect({asio::ip::address_v4::loopback(), port});
  }
  auto const begin = clock_type::now();
  for (auto& one : clients) ask(*one);
  io.run();
  return static_cast<double>(how.snapshots) / seconds_since(begin);
}

struct served {
  explicit served(fleet_settings const& how) {
    bench::fill(directory, how.fleets);
  }
  static auto bounds() -> fleets_options {
    fleets_options out;
    out.streams = 100'000;
    return out;
  }
  static auto limits() -> http_limits {
    http_limits out;
    out.connections = 200'000;
    out.backlog = 4096;
    return out;
  }
  asio::io_context io{1};
  asio_timer time{io.get_executor()};
  fleet_directory directory{io.get_executor(), time};
  fleets_front_end front_end{directory, time, {}, bounds()};
  http_listener listener{io.get_executor(), front_end, time, limits()};
};

struct rates {
  double ours;
  double fixed;
  std::size_t bytes;
};

auto measure_snapshots(fleet_settings const& how) -> rates {
  served one{how};
  if (one.listener.listen("127.0.0.1", 0)) std::exit(1);
  auto const page = one.directory.snapshot();
  rates out{};
  {
    bench::running_loop const loop{one.io};
    out.ours = load(how, one.listener.port());
  }
  // As long as what was sent, byte for byte the same kind of text.
  fixed_answer fixed;
  for (auto const& fleet : page.fleets) append_json(fixed.body, *fleet);
  out.bytes = fixed.body.size();
  asio::io_context io{1};
  asio_timer time{io.get_executor()};
  http_listener listener{io.get_executor(), fixed, time, served::limits()};
  if (listener.listen("127.0.0.1", 0)) std::exit(1);
  bench::running_loop const loop{io};
  out.fixed = load(how, listener.port());
  return out;
}

auto measure_streams(fleet_settings const& how) -> bench::stream_figures {
  bench::allow_descriptors();
  served one{how};
  if (one.listener.listen("127.0.0.1", 0)) std::exit(1);
  return bench::measure_streams<bench::listener_client>(how, one.io, one.directory, one.listener.port());
}

}  // namespace

auto main(int argc, char** argv) -> int {
  auto const how = bench::read_fleet_settings(argc, argv);
  std::vector<double> change;
  std::vector<double> with;
  std::vector<double> without;
  std::vector<double> query;
  std::vector<double> snapshots;
  std::vector<double> fixed;
  std::size_t bytes = 0;
  for (std::size_t round = 0; round != how.rounds; ++round) {
    auto const apart = [](std::vector<double>& into, auto measure) {
      into.push_back(bench::apart<double>([&](double& out) { out = measure(); }));
    };
    apart(change, [&] { return measure_change(how); });
    apart(without, [&] { return measure_allocations(how, false); });
    apart(with, [&] { return measure_allocations(how, true); });
    apart(query, [&] { return measure_query(how); });
    auto const found = measure_snapshots(how);
    snapshots.push_back(found.ours);
    fixed.push_back(found.fixed);
    bytes = found.bytes;
  }
  auto const streams = measure_streams(how);
  std::printf(how.json ? "{\"change_ns\":%.0f,\"allocation_ns\":%.0f,\"allocation_with_directory_ns\":%.0f,\"allocation_ratio\":%.3f,"
                         "\"query_ns\":%.0f,\"snapshots_per_second\":%.0f,\"same_bytes_per_second\":%.0f,\"snapshot_ratio\":%.3f,"
                         "\"snapshot_bytes\":%zu,\"stream_p50_ms\":%.1f,\"stream_p99_ms\":%.1f,\"stream_bytes_per_consumer\":%.0f,"
                         "\"stream_megabytes_per_second\":%.1f,\"stream_samples\":%zu,\"streams_ended\":%zu}\n"
                       : "a change: %.0f ns\nan allocation: %.0f ns, with the directory %.0f ns, ratio %.3f\na query: %.0f ns\n"
                         "snapshots: %.0f/s, the same bytes from memory %.0f/s, ratio %.3f (%zu bytes)\n"
                         "streams: p50 %.1f ms, p99 %.1f ms from change to consumer, %.0f bytes a consumer, %.1f MB/s, %zu samples, %zu ended\n",
              median(change), median(without), median(with), median(with) / median(without), median(query), median(snapshots),
              median(fixed), median(snapshots) / median(fixed), bytes, streams.p50_ms, streams.p99_ms, streams.bytes_per_consumer,
              streams.megabytes_per_second, streams.samples, streams.ended);
  return 0;
}
