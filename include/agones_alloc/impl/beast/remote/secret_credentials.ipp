#pragma once

#include <agones_alloc/async/detail/complete.hpp>
#include <agones_alloc/beast/remote/client_bundle.hpp>
#include <agones_alloc/beast/remote/secret_credentials.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/post.hpp>

#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline void post_credentials(boost::asio::any_io_executor const& executor, credentials_provider::handler done,
                             error_code ec, credentials_ptr found) {
  boost::asio::post(executor, [own = boost::asio::any_completion_executor{executor}, done = std::move(done), ec,
                               found = std::move(found)]() mutable { complete(own, std::move(done), ec, std::move(found)); });
}

}  // namespace detail

AGONES_ALLOC_DECL secret_credentials::secret_credentials(boost::asio::any_io_executor executor, timer& time,
                                                         secret_source* source, credential_reference reference,
                                                         std::string server_name, secret_credentials_options options)
    : executor_{std::move(executor)},
      time_{&time},
      source_{source},
      reference_{std::move(reference)},
      server_name_{std::move(server_name)},
      options_{options} {}

AGONES_ALLOC_DECL auto secret_credentials::current() -> credentials_ptr {
  if (!reading_ && time_->now() >= next_) read();
  return current_;
}

AGONES_ALLOC_DECL void secret_credentials::read() {
  reading_ = true;
  bool const named = !reference_.secret.empty();
  if (!named || source_ == nullptr) {
    secret_data none;
    if (named) none.problem = "there is no source of Secrets";
    error_code const ec = named ? error_code{errc::not_found} : error_code{};
    boost::asio::post(executor_, [self = shared_from_this(), ec, none = std::move(none)] { self->on_read(ec, none); });
    return;
  }
  source_->async_get(reference_.namespace_.str(), reference_.secret.str(),
                     boost::asio::bind_executor(executor_, [self = shared_from_this()](error_code ec, secret_data data) {
                       self->on_read(ec, data);
                     }));
}

// "", or why the last good bundle stays.
AGONES_ALLOC_DECL auto secret_credentials::take(error_code ec, secret_data const& data) -> std::string {
  auto const& name = reference_.secret;
  if (ec) return "secret " + name.str() + ": " + (data.problem.empty() ? ec.message() : data.problem);
  // Checking a bundle costs milliseconds, and mostly it is the old one.
  if (current_ && used_ == data.entries) return {};
  client_credentials made;
  made.tls.server_name = server_name_;
  auto bad = name.empty() ? make_trust_bundle(reference_.server_ca.view(), made.tls)
                          : make_client_bundle(data, name.view(), reference_.server_ca.view(), made.tls);
  if (!bad.empty()) return bad;
  used_ = data.entries;
  if (current_ && current_->tls == made.tls) return {};
  current_ = std::make_shared<client_credentials const>(std::move(made));
  ++version_;
  return {};
}

AGONES_ALLOC_DECL void secret_credentials::on_read(error_code ec, secret_data const& data) {
  reading_ = false;
  auto const before = version_;
  auto problem = take(ec, data);
  bool const good = problem.empty();
  next_ = time_->now() + (good ? options_.time_to_live : options_.retry);
  auto const name = reference_.namespace_.str() + "/" + reference_.secret.str();
  if (options_.counts != nullptr) options_.counts->credentials_read(name, good);
  if (options_.log != nullptr && !good && problem != problem_) {
    options_.log->log(severity::error,
                      current_ ? "credentials for another cluster cannot be used; the last good ones stay in use"
                               : "credentials for another cluster cannot be used",
                      {{"secret", name}, {"reason", problem}});
  }
  if (options_.log != nullptr && before != 0 && version_ != before) {
    options_.log->log(severity::info, "credentials for another cluster have changed", {{"secret", name}});
  }
  problem_ = std::move(problem);
  auto told = std::move(waiting_);
  waiting_.clear();
  for (auto& [number, done] : told) {
    detail::post_credentials(executor_, std::move(done), current_ ? error_code{} : error_code{errc::unavailable}, current_);
  }
}

AGONES_ALLOC_DECL void secret_credentials::do_fetch(credentials_ptr refused, handler done) {
  bool const rested = time_->now() >= next_;
  if ((current_ && refused != current_) || (!reading_ && !rested)) {
    error_code const ec = current_ ? error_code{} : error_code{errc::unavailable};
    return detail::post_credentials(executor_, std::move(done), ec, current_);
  }
  auto const number = ++last_waiter_;
  auto slot = boost::asio::get_associated_cancellation_slot(done);
  if (slot.is_connected()) {
    slot.assign([weak = weak_from_this(), number](boost::asio::cancellation_type type) {
      auto const self = weak.lock();
      if (self && type != boost::asio::cancellation_type::none) self->forget(number);
    });
  }
  waiting_.emplace_back(number, std::move(done));
  if (!reading_) read();
}

AGONES_ALLOC_DECL void secret_credentials::forget(std::uint64_t number) {
  std::vector<std::pair<std::uint64_t, handler>> rest;  // erased handlers of Boost 1.81 cannot be assigned
  for (auto& [id, done] : waiting_) {
    if (id != number) {
      rest.emplace_back(id, std::move(done));
    } else {
      detail::post_credentials(executor_, std::move(done), errc::cancelled, {});
    }
  }
  waiting_.swap(rest);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
