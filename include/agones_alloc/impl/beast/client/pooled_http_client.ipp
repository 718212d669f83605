#pragma once

#include <agones_alloc/beast/client/client_pool.hpp>
#include <agones_alloc/beast/client/pooled_http_client.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/dispatch.hpp>

#include <stdexcept>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

/// May be asked for and cancelled on any thread: the work is done on the pool's executor.
inline void submit(std::shared_ptr<client_call> call, std::shared_ptr<client_pool> const& pool,
                   boost::asio::cancellation_slot slot) {
  if (slot.is_connected()) {
    slot.assign([weak = std::weak_ptr<client_call>{call}, executor = pool->executor()](boost::asio::cancellation_type t) {
      if ((t & boost::asio::cancellation_type::terminal) == boost::asio::cancellation_type::none) return;
      boost::asio::dispatch(executor, [weak] {
        auto const found = weak.lock();
        // A stream that its caller holds is ended by its destruction.
        if (found && !found->handed_over()) found->give_up(errc::cancelled);
      });
    });
  }
  boost::asio::dispatch(pool->executor(), [pool, call = std::move(call)]() mutable { pool->start(std::move(call)); });
}

}  // namespace detail

AGONES_ALLOC_DECL pooled_http_client::pooled_http_client(boost::asio::any_io_executor executor, client_endpoint endpoint,
                                                         std::shared_ptr<credentials_provider> provider, timer& time,
                                                         client_options options, logger* log) {
  if (auto const* bad = first_bad_field(options)) {
    throw std::invalid_argument{std::string{"client_options::"} + bad + " is out of range"};
  }
  if (endpoint.host.empty()) throw std::invalid_argument{"client_endpoint::host is empty"};
  if (endpoint.port == 0) throw std::invalid_argument{"client_endpoint::port is 0"};
  if (!provider) throw std::invalid_argument{"a client needs a provider of credentials"};
  pool_ = std::make_shared<detail::client_pool>(std::move(executor), std::move(endpoint), std::move(provider), time,
                                                std::move(options), log);
}

AGONES_ALLOC_DECL pooled_http_client::~pooled_http_client() { close(); }

AGONES_ALLOC_DECL void pooled_http_client::close() {
  boost::asio::dispatch(pool_->executor(), [pool = pool_] { pool->shut(); });
}

AGONES_ALLOC_DECL auto pooled_http_client::counts() const noexcept -> client_counts { return pool_->counts(); }

AGONES_ALLOC_DECL void pooled_http_client::do_request(client_request request, response_handler handler) {
  auto const slot = boost::asio::get_associated_cancellation_slot(handler);
  detail::submit(std::make_shared<detail::client_call>(
                     pool_->executor(), pool_, std::move(request),
                     std::make_unique<response_handler>(std::move(handler)), nullptr),
                 pool_, slot);
}

AGONES_ALLOC_DECL void pooled_http_client::do_stream(client_request request, stream_handler handler) {
  auto const slot = boost::asio::get_associated_cancellation_slot(handler);
  detail::submit(
      std::make_shared<detail::client_call>(pool_->executor(), pool_, std::move(request), nullptr,
                                            std::make_unique<stream_handler>(std::move(handler))),
      pool_, slot);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
