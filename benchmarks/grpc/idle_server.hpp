// How much memory does agones-alloc-server have that serves gRPC and is asked nothing?
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

extern char** environ;

namespace bench {

/// In bytes. What is resident are pages of its own, and pages of files (the program, its libraries) that whoever else has them
/// mapped shares.
struct process_memory {
  double resident{0};
  double own{0};           ///< anonymous: heap, stacks, data that was written
  double proportional{0};  ///< a shared page counts for its part
};

inline auto memory_of(pid_t process) -> process_memory {
  process_memory out;
  std::ifstream in{"/proc/" + std::to_string(process) + "/smaps_rollup"};
  for (std::string name; in >> name;) {
    double kib = 0;
    if (name == "Rss:" && in >> kib) out.resident = kib * 1024;
    if (name == "Pss:" && in >> kib) out.proportional = kib * 1024;
    if (name == "Anonymous:" && in >> kib) out.own = kib * 1024;
  }
  if (out.resident == 0) throw std::runtime_error{"the memory of the server cannot be read"};
  return out;
}

/// A server with a fleet of ten, from its start to its end.
class idle_server {
 public:
  explicit idle_server(std::string const& program) {
    std::ofstream{fleet_} << "apiVersion: agones.dev/v1\nkind: Fleet\nmetadata: {name: simple}\nspec: {replicas: 10, template: {spec: "
                             "{ports: [{name: default, containerPort: 7654}]}}}\n";
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) throw std::runtime_error{"no pipe"};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    std::array<std::string, 7> words{program, "--fleets", fleet_, "--listen", "127.0.0.1:0", "--grpc-listen", "127.0.0.1:0"};
    std::array<char*, 8> arguments{};
    for (std::size_t i = 0; i != words.size(); ++i) arguments[i] = words[i].data();
    auto const problem = ::posix_spawn(&process_, program.c_str(), &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    out_ = ends[0];
    if (problem != 0) {
      process_ = 0;
      close();
      throw std::runtime_error{program + " cannot be run"};
    }
    await("listening on");
  }
  ~idle_server() { close(); }
  idle_server(idle_server const&) = delete;
  auto operator=(idle_server const&) -> idle_server& = delete;

  /// Once its fleet is there and it has been idle for a while.
  auto memory() const -> process_memory {
    std::this_thread::sleep_for(std::chrono::seconds{5});
    return memory_of(process_);
  }

 private:
  void await(std::string_view words) {
    std::string text;
    std::array<char, 512> part{};
    while (text.find(words) == std::string::npos) {
      auto const size = ::read(out_, part.data(), part.size());
      if (size <= 0) {
        close();
        throw std::runtime_error{"the server has ended"};
      }
      text.append(part.data(), static_cast<std::size_t>(size));
    }
  }
  void close() {
    if (process_ != 0) {
      ::kill(process_, SIGTERM);
      ::waitpid(process_, nullptr, 0);
    }
    if (out_ >= 0) ::close(out_);
    std::error_code ignored;
    std::filesystem::remove(fleet_, ignored);
  }

  std::string fleet_{(std::filesystem::temp_directory_path() / ("idle-" + std::to_string(::getpid()) + ".yaml")).string()};
  pid_t process_{0};
  int out_{-1};
};

}  // namespace bench
