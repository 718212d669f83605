#pragma once

#include <agones_alloc/beast/client/credential_file.hpp>
#include <agones_alloc/beast/tls/tls_server.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

class tls_server_state final : public std::enable_shared_from_this<tls_server_state> {
 public:
  tls_server_state(boost::asio::any_io_executor executor, timer& time, tls_server_options options, logger* log)
      : executor_{std::move(executor)}, time_{&time}, options_{std::move(options)}, log_{log} {
    if (options_.look_every <= std::chrono::nanoseconds{0}) {
      throw std::invalid_argument{"tls_server_options::look_every is out of range"};
    }
    bundle_.ask = options_.clients != client_verification::none;
    bundle_.require = options_.clients == client_verification::required;
  }

  /// "", or the problem; what was in use stays so.
  auto read() -> std::string {
    auto next = bundle_;
    next.client_authorities.clear();
    if (auto bad = read_credential_file(options_.certificate.string(), next.certificate); !bad.empty()) return bad;
    if (auto bad = read_credential_file(options_.key.string(), next.key); !bad.empty()) return bad;
    for (auto const& path : options_.client_authorities) {
      if (auto bad = read_authorities(path, next.client_authorities); !bad.empty()) return bad;
    }
    return use(std::move(next));
  }

  auto use(tls_bundle next) -> std::string {
    if (context_ && next == bundle_) return {};
    std::string problem;
    auto made = server_context::make(next, problem);
    if (!made) return file_of(problem) + problem;
    context_ = std::move(made);
    bundle_ = std::move(next);
    ++version_;
    if (told_) told_(bundle_);
    bool const expired = context_->expires() <= std::chrono::floor<std::chrono::seconds>(time_->wall_now());
    if (expired) say(severity::warning, "the server's certificate has expired", options_.certificate.string());
    return {};
  }

  auto look() -> bool {
    auto const before = version_;
    auto problem = read();
    if (!problem.empty() && problem != last_problem_) {
      say(severity::error, "certificates cannot be used; the last good ones stay in use", problem);
    }
    if (version_ != before) say(severity::info, "certificates were read again", options_.certificate.string());
    last_problem_ = std::move(problem);
    return last_problem_.empty();
  }

  void look_later() {
    time_->async_wait_until(time_->now() + options_.look_every,
                            boost::asio::bind_cancellation_slot(
                                looking_.slot(),
                                boost::asio::bind_executor(executor_, [self = shared_from_this()](error_code ec) {
                                  if (ec || self->stopped_) return;
                                  self->look();
                                  self->look_later();
                                })));
  }

  void stop() {
    stopped_ = true;
    looking_.emit(boost::asio::cancellation_type::terminal);
  }

  auto trust_front_proxy(std::string authorities) -> bool {
    auto next = bundle_;
    next.front_proxy_authorities = std::move(authorities);
    auto const problem = use(std::move(next));
    if (!problem.empty()) {
      say(severity::error, "the front proxy's authority cannot be used; the last one stays in use", problem);
    }
    return problem.empty();
  }

  void on_change(std::function<void(tls_bundle const&)> told) {
    told_ = std::move(told);
    if (told_ && context_) told_(bundle_);
  }

  auto context() const noexcept -> std::shared_ptr<server_context> const& { return context_; }
  auto version() const noexcept -> std::uint64_t { return version_; }

 private:
  auto read_authorities(std::filesystem::path const& path, std::string& out) -> std::string {
    std::error_code ec;
    if (!std::filesystem::is_directory(path, ec)) return append(path, out);
    std::vector<std::filesystem::path> files;
    for (std::filesystem::directory_iterator at{path, ec}, end; !ec && at != end; at.increment(ec)) {
      auto const extension = at->path().extension();
      if (extension == ".crt" || extension == ".pem") files.push_back(at->path());
    }
    if (ec) return path.string() + ": " + ec.message();
    std::sort(files.begin(), files.end());
    std::string left_out;
    for (auto const& file : files) {
      if (auto bad = append(file, out); !bad.empty()) left_out += (left_out.empty() ? "" : "; ") + bad;
    }
    if (!left_out.empty() && left_out != left_out_) say(severity::warning, "client authorities are left out", left_out);
    left_out_ = std::move(left_out);
    return {};
  }

  static auto append(std::filesystem::path const& file, std::string& out) -> std::string {
    std::string text;
    if (auto bad = read_credential_file(file.string(), text); !bad.empty()) return bad;
    if (count_certificates(text) < 1) return file.string() + ": holds no certificate, or a broken one";
    out += text;
    if (!out.ends_with('\n')) out += '\n';
    return {};
  }

  auto file_of(std::string const& problem) const -> std::string {
    if (problem.starts_with("certificate:")) return options_.certificate.string() + ": ";
    if (problem.starts_with("key:")) return options_.key.string() + ": ";
    return {};
  }

  void say(severity how, std::string_view what, std::string const& detail) {
    if (log_ != nullptr) log_->log(how, what, {{"detail", detail}});
  }

  boost::asio::any_io_executor executor_;
  timer* time_;
  tls_server_options options_;
  logger* log_;
  tls_bundle bundle_;
  std::shared_ptr<server_context> context_;
  std::string last_problem_;
  std::string left_out_;
  std::function<void(tls_bundle const&)> told_;
  boost::asio::cancellation_signal looking_;
  std::uint64_t version_{0};
  bool stopped_{false};
};

}  // namespace detail

AGONES_ALLOC_DECL tls_server::tls_server(boost::asio::any_io_executor executor, timer& time, tls_server_options options,
                                         logger* log)
    : state_{std::make_shared<detail::tls_server_state>(std::move(executor), time, std::move(options), log)} {}
AGONES_ALLOC_DECL tls_server::~tls_server() { state_->stop(); }
AGONES_ALLOC_DECL auto tls_server::load() -> std::string { return state_->read(); }
AGONES_ALLOC_DECL void tls_server::start() { state_->look_later(); }
AGONES_ALLOC_DECL void tls_server::stop() { state_->stop(); }
AGONES_ALLOC_DECL auto tls_server::look() -> bool { return state_->look(); }
AGONES_ALLOC_DECL auto tls_server::trust_front_proxy(std::string authorities) -> bool {
  return state_->trust_front_proxy(std::move(authorities));
}
AGONES_ALLOC_DECL void tls_server::on_change(std::function<void(detail::tls_bundle const&)> told) {
  state_->on_change(std::move(told));
}
AGONES_ALLOC_DECL auto tls_server::version() const noexcept -> std::uint64_t { return state_->version(); }
AGONES_ALLOC_DECL auto tls_server::current() const noexcept -> std::shared_ptr<detail::server_context> {
  return state_->context();
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
