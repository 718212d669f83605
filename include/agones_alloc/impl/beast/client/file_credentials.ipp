#pragma once

#include <agones_alloc/async/detail/complete.hpp>
#include <agones_alloc/beast/client/credential_file.hpp>
#include <agones_alloc/beast/client/file_credentials.hpp>
#include <agones_alloc/json/base64.hpp>

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline constexpr std::chrono::seconds credential_file_age{60};
inline constexpr std::chrono::seconds credential_file_retry{1};

inline auto read_pem(yaml::pem_source const& from, std::string& out) -> std::string {
  if (!from.pem.empty() || from.file.empty()) {
    out = from.pem;
    return {};
  }
  return read_credential_file(from.file, out);
}

/// Without the white space around it; "" when it cannot be a token.
inline auto trimmed_token(std::string_view text) -> std::string_view {
  auto const blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  bool const clean = std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
  return clean ? text : std::string_view{};
}

}  // namespace detail

AGONES_ALLOC_DECL file_credentials::file_credentials(boost::asio::any_io_executor executor, timer& time,
                                                     yaml::kube_target target, logger* log)
    : executor_{std::move(executor)}, time_{&time}, target_{std::move(target)}, log_{log} {}

AGONES_ALLOC_DECL auto file_credentials::has_files() const noexcept -> bool {
  auto const from_file = [](yaml::pem_source const& source) { return source.pem.empty() && !source.file.empty(); };
  return from_file(target_.ca) || from_file(target_.certificate) || from_file(target_.key) ||
         !target_.token_file.empty();
}

AGONES_ALLOC_DECL auto file_credentials::current() -> credentials_ptr {
  if (!current_ || has_files()) {
    if (time_->now() >= next_) read();
  }
  return current_;
}

// All of it or nothing: a certificate never goes with another one's key.
AGONES_ALLOC_DECL auto file_credentials::load(client_credentials& out) const -> std::string {
  auto problem = detail::read_pem(target_.ca, out.tls.ca_pem);
  if (problem.empty()) problem = detail::read_pem(target_.certificate, out.tls.certificate_pem);
  if (problem.empty()) problem = detail::read_pem(target_.key, out.tls.key_pem);
  out.tls.server_name = target_.tls_server_name;
  out.tls.insecure_skip_verify = target_.insecure_skip_tls_verify;
  auto token = target_.token;
  if (problem.empty() && !target_.token_file.empty()) {
    std::string text;
    problem = detail::read_credential_file(target_.token_file, text);
    if (problem.empty()) token = detail::trimmed_token(text);
    if (problem.empty() && token.empty()) problem = target_.token_file + ": holds no token";
    if (!problem.empty() && !target_.token.empty() && !current_) {
      token = target_.token;
      problem.clear();
    }
  }
  if (!token.empty()) {
    out.authorization = "Bearer " + token;
  } else if (!target_.username.empty() || !target_.password.empty()) {
    out.authorization = "Basic " + encode_base64(target_.username + ":" + target_.password);
  }
  return problem;
}

AGONES_ALLOC_DECL void file_credentials::read() {
  read_at_ = time_->now();
  client_credentials found;
  auto const problem = load(found);
  next_ = read_at_ + (problem.empty() ? detail::credential_file_age : detail::credential_file_retry);
  if (!problem.empty()) {
    if (!std::exchange(failing_, true) && log_ != nullptr) {
      log_->log(severity::warning, "credentials cannot be read", {{"reason", problem}});
    }
    return;
  }
  failing_ = false;
  bool const same = current_ && current_->tls == found.tls && current_->authorization == found.authorization;
  if (!same) current_ = std::make_shared<client_credentials const>(std::move(found));
}

AGONES_ALLOC_DECL void file_credentials::do_fetch(credentials_ptr refused, handler done) {
  bool const rested = time_->now() >= read_at_ + detail::credential_file_retry;
  if (rested && (!current_ || (refused == current_ && has_files()))) read();
  boost::asio::post(executor_, [own = boost::asio::any_completion_executor{executor_}, done = std::move(done),
                                found = current_]() mutable {
    error_code const ec = found ? error_code{} : error_code{errc::unavailable};
    detail::complete(own, std::move(done), ec, std::move(found));
  });
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
