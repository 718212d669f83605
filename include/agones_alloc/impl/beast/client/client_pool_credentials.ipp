#pragma once

#include <agones_alloc/beast/client/client_pool.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

// Connections are made with these from now on. False: they cannot be used.
AGONES_ALLOC_DECL auto client_pool::adopt(credentials_ptr const& credentials) -> bool {
  if (credentials == adopted_) return true;
  auto const& endpoint = settings_->endpoint;
  if (endpoint.tls && (!context_ || context_->identity() != credentials->tls)) {
    std::string what;
    auto made = tls_context::make(credentials->tls, endpoint.host, what);
    if (!made) {
      warn("credentials cannot be used", what, made.error().message());
      return false;
    }
    context_ = std::move(*made);
    close_resting(false);
  }
  adopted_ = credentials;
  return true;
}

AGONES_ALLOC_DECL void client_pool::refused(std::shared_ptr<client_call> call) {
  if (shut_) return call->give_up(errc::cancelled);
  call->refreshed = true;
  call->where = client_call::stage::refused;
  times_.set(*call, std::min(call->deadline, settings_->time->now() + settings_->options.times.credentials));
  refused_.push_back(call);
  set_alarm();
  fetch(call->used);
}

AGONES_ALLOC_DECL void client_pool::fetch(credentials_ptr refused) {
  if (fetching_) return;
  fetching_ = true;
  times_.set(fetch_time_, settings_->time->now() + settings_->options.times.credentials);
  set_alarm();
  auto handler = [self = shared_from_this(), number = ++fetch_number_](error_code ec, credentials_ptr got) {
    if (self->fetching_ && number == self->fetch_number_) self->on_fetched(ec, std::move(got));
  };
  provider_->async_fetch(std::move(refused),
                         boost::asio::bind_cancellation_slot(
                             cancel_fetch_.slot(), boost::asio::bind_executor(executor_, std::move(handler))));
}

AGONES_ALLOC_DECL void client_pool::on_fetched(error_code ec, credentials_ptr got) {
  fetching_ = false;
  times_.remove(fetch_time_);
  if (!ec && !got) ec = errc::unavailable;
  auto const refused = std::move(refused_);
  refused_.clear();
  for (auto const& call : refused) {
    if (!ec && got != call->used) {
      ++counts_.repeated;
      times_.remove(*call);
      enqueue(call, true);
    } else {
      call->accept_refusal();
    }
  }
  if (ec && !provider_->current()) {
    warn("no credentials", "fetch", ec.message());
    fail_waiting(errc::unavailable);
  }
  pump(ec ? credentials_ptr{} : std::move(got));
}

AGONES_ALLOC_DECL void client_pool::fail_waiting(error_code ec) {
  for (auto& lane : lanes_) {
    while (!lane.waiting.empty()) {
      auto const call = lane.waiting.front();
      call->give_up(ec);
    }
  }
}

AGONES_ALLOC_DECL void client_pool::warn(std::string_view message, std::string_view phase, std::string_view reason) {
  if (!told_.emplace(phase).second || log_ == nullptr) return;
  auto const server = settings_->endpoint.host + ":" + std::to_string(settings_->endpoint.port);
  log_->log(severity::warning, message, {{"server", server}, {"phase", phase}, {"reason", reason}});
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
