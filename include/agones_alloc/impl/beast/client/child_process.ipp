#pragma once

#include <agones_alloc/beast/client/child_process.hpp>
#include <agones_alloc/beast/client/client_alarm.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/readable_pipe.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// `NAME=value` for the child: ours, but for those given.
inline auto child_environment(child_command const& command) -> std::vector<std::string> {
  std::vector<std::string> out;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    std::string_view const entry{*at};
    auto const name = entry.substr(0, entry.find('='));
    bool const replaced = std::any_of(command.env.begin(), command.env.end(), [&](auto const& e) { return e.first == name; });
    if (!replaced) out.emplace_back(entry);
  }
  for (auto const& [name, value] : command.env) out.push_back(name + "=" + value);
  return out;
}

inline auto pointers_to(std::vector<std::string>& texts) -> std::vector<char*> {
  std::vector<char*> out;
  for (auto& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

/// Starts it with standard output at `output`. Returns 0 or errno.
inline auto spawn_child(child_command const& command, int output, pid_t& child) -> int {
  std::vector<std::string> words{command.program};
  words.insert(words.end(), command.args.begin(), command.args.end());
  auto variables = child_environment(command);
  auto const argv = pointers_to(words);
  auto const envp = pointers_to(variables);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  sigset_t none;
  sigset_t defaults;
  ::sigemptyset(&none);
  ::sigemptyset(&defaults);
  for (int const signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGCHLD}) ::sigaddset(&defaults, signal);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  int const failed = ::posix_spawnp(&child, command.program.c_str(), &files, &attributes, argv.data(), envp.data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
  return failed;
}

class child_process::run : public std::enable_shared_from_this<run> {
 public:
  run(boost::asio::any_io_executor executor, timer& time, child_limits limits, callback done)
      : executor_{executor}, time_{&time}, limits_{limits}, done_{std::move(done)}, pipe_{executor}, alarm_{time, executor} {}
  run(run const&) = delete;
  auto operator=(run const&) -> run& = delete;
  ~run() { kill(); }

  void start(child_command const& command) {
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return finish(std::string{"cannot make a pipe: "} + std::strerror(errno));
    error_code ec;
    pipe_.assign(ends[0], ec);
    if (ec) ::close(ends[0]);
    int const failed = ec ? ec.value() : spawn_child(command, ends[1], child_);
    ::close(ends[1]);
    if (failed != 0) {
      child_ = 0;
      return finish("cannot run " + command.program + ": " + std::strerror(failed));
    }
    deadline_ = time_->now() + limits_.time;
    alarm_.set(deadline_, shared_from_this());
    read();
  }

  void on_alarm() {
    if (time_->now() >= deadline_) return finish("did not end in time");
    reap();
  }

  void drop() {
    done_ = nullptr;
    finish({});
  }

 private:
  void read() {
    pipe_.async_read_some(boost::asio::buffer(block_), [self = shared_from_this()](error_code ec, std::size_t size) {
      if (self->finished_) return;
      if (ec) return self->reap();
      self->output_.append(self->block_.data(), size);
      if (self->output_.size() > self->limits_.output_bytes) return self->finish("printed too much");
      self->read();
    });
  }

  // Its output has ended, and so will it, in a moment: to wait for its signal would take the process's signal handler.
  void reap() {
    int status = 0;
    auto const got = ::waitpid(child_, &status, WNOHANG);
    if (got == 0 || (got < 0 && errno == EINTR)) {
      return alarm_.set(std::min(deadline_, time_->now() + std::chrono::milliseconds{5}), shared_from_this());
    }
    child_ = 0;
    // Somebody who ignores SIGCHLD leaves no status to read: the output has to speak for itself.
    if (got < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) return finish({});
    if (WIFEXITED(status)) return finish("exited with status " + std::to_string(WEXITSTATUS(status)));
    finish("was ended by signal " + std::to_string(WTERMSIG(status)));
  }

  void kill() noexcept {
    if (child_ == 0) return;
    ::kill(-child_, SIGKILL);
    ::kill(child_, SIGKILL);  // in the moment before it has its group
    while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
    }
    child_ = 0;
  }

  void finish(std::string problem) {
    if (std::exchange(finished_, true)) return;
    kill();
    alarm_.stop();
    error_code ignored;
    pipe_.close(ignored);
    if (!done_) return;
    if (!problem.empty()) output_.clear();
    boost::asio::post(executor_, [self = shared_from_this(), problem = std::move(problem)]() mutable {
      if (auto const done = std::exchange(self->done_, nullptr)) done(std::move(problem), std::move(self->output_));
    });
  }

  boost::asio::any_io_executor executor_;
  timer* time_;
  child_limits limits_;
  callback done_;
  boost::asio::readable_pipe pipe_;
  client_alarm alarm_;
  timer::time_point deadline_;
  std::array<char, 4096> block_{};
  std::string output_;
  pid_t child_{0};  ///< 0: none that has not been waited for
  bool finished_{false};
};

AGONES_ALLOC_DECL child_process::child_process(boost::asio::any_io_executor executor, timer& time,
                                               child_command const& command, child_limits limits, callback done)
    : run_{std::make_shared<run>(std::move(executor), time, limits, std::move(done))} {
  run_->start(command);
}

AGONES_ALLOC_DECL child_process::~child_process() { run_->drop(); }

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
