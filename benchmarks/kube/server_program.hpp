// The server program in front of the cluster: how soon it is ready, and how much memory it has.
#pragma once

#include "allocate.hpp"
#include "start.hpp"

#include <agones_alloc/beast/client/static_credentials.hpp>

#include <boost/asio/ip/tcp.hpp>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace bench {

/// Runs while it lives.
class server_process {
 public:
  server_process(settings const& want, std::string const& ns, std::uint16_t port) {
    std::vector<std::string> words{want.server_program, "--namespace", ns,    "--listen", "127.0.0.1:" + std::to_string(port),
                                   "--no-events",       "--log-level", "error"};
    for (auto const& file : want.kubeconfigs) words.insert(words.end(), {"--kubeconfig", file});
    if (!want.context.empty()) words.insert(words.end(), {"--context", want.context});
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    auto const failed = ::posix_spawn(&id_, arguments.front(), &actions, nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) throw std::runtime_error{"--server-program " + want.server_program + ": " + std::generic_category().message(failed)};
  }
  ~server_process() {
    if (id_ <= 0) return;
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
  }
  server_process(server_process const&) = delete;
  auto operator=(server_process const&) -> server_process& = delete;

  void expect_alive() {
    int status = 0;
    if (::waitpid(id_, &status, WNOHANG) != id_) return;
    id_ = 0;
    throw std::runtime_error{"the server program ended with status " + std::to_string(status)};
  }

  /// A line of /proc/PID/status, in MB.
  auto memory_mb(std::string const& key) const -> double {
    std::ifstream in{"/proc/" + std::to_string(id_) + "/status"};
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with(key + ':')) return std::strtod(line.c_str() + key.size() + 1, nullptr) * 1024 / 1e6;
    }
    throw std::runtime_error{"/proc/PID/status has no " + key};
  }

 private:
  ::pid_t id_{0};
};

struct server_figures {
  std::vector<double> bare_ms;
  std::vector<double> ready_ms;     ///< from the start of the process to 200 from /ready
  double ready_mb{0};               ///< resident then
  double busy_mb{0};                ///< resident after the allocations
  double peak_mb{0};
  loop_figures allocations;         ///< through the program, from this one
};

inline auto free_port(environment& env) -> std::uint16_t {
  using boost::asio::ip::tcp;
  return tcp::acceptor{env.io, {boost::asio::ip::address_v4::loopback(), 0}}.local_endpoint().port();
}

inline auto measure_server(environment& env, stock& servers, std::size_t rounds, std::size_t count, std::size_t callers) -> server_figures {
  server_figures out;
  for (std::size_t round = 0; round < rounds; ++round) {
    out.bare_ms.push_back(list_bare(env, servers.ns()).ms);
    agones_alloc::client_endpoint const place{"127.0.0.1", free_port(env), false, ""};
    agones_alloc::client_options options;
    options.limits.connections = callers;
    agones_alloc::pooled_http_client client{
        env.io.get_executor(), place, std::make_shared<agones_alloc::static_credentials>(env.io.get_executor()), env.time, options};
    auto const begin = clock_type::now();
    server_process program{env.want, servers.ns(), place.port};
    for (bool ready = false; !ready;) {
      program.expect_alive();
      if (milliseconds_since(begin) > 120'000) throw std::runtime_error{"the server program is not ready after two minutes"};
      bool over = false;
      client.async_request(request("GET", "/ready"), [&](agones_alloc::error_code ec, agones_alloc::client_response const& answer) {
        ready = !ec && answer.status == 200;
        env.time.async_wait_until(env.time.now() + std::chrono::milliseconds{ready ? 0 : 5}, [&](agones_alloc::error_code) { over = true; });
      });
      run_until(env.io, [&] { return over; });
    }
    out.ready_ms.push_back(milliseconds_since(begin));
    if (round + 1 == rounds) {
      out.ready_mb = program.memory_mb("VmRSS");
      auto const path = "/apis/allocation.agones.dev/v1/namespaces/" + servers.ns() + "/gameserverallocations";
      out.allocations = closed_loop(env.io, count, callers, [&](std::size_t, std::size_t, auto done) {
        client.async_request(request("POST", path, R"({"spec":{"selectors":[{"matchLabels":{"agones.dev/fleet":"simple"}}]}})"),
                             [done](agones_alloc::error_code ec, agones_alloc::client_response const& answer) {
                               expect(ec, answer, {201}, "an allocation through the server program");
                               if (answer.body.find(R"("state":"Allocated")") == std::string::npos) {
                                 throw std::runtime_error{"the server program answers " + answer.body.substr(0, 300)};
                               }
                               done();
                             });
      });
      out.busy_mb = program.memory_mb("VmRSS");
      out.peak_mb = program.memory_mb("VmHWM");
    }
    client.close();
    env.io.restart();
    env.io.poll();
  }
  return out;
}

}  // namespace bench
