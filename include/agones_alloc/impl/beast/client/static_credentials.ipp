#pragma once

#include <agones_alloc/async/detail/complete.hpp>
#include <agones_alloc/beast/client/static_credentials.hpp>

#include <boost/asio/post.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL static_credentials::static_credentials(boost::asio::any_io_executor executor,
                                                         client_credentials first)
    : executor_{std::move(executor)}, current_{std::make_shared<client_credentials const>(std::move(first))} {}

AGONES_ALLOC_DECL auto static_credentials::current() -> credentials_ptr {
  std::lock_guard const lock{mutex_};
  return current_;
}

AGONES_ALLOC_DECL void static_credentials::replace(client_credentials next) {
  auto made = std::make_shared<client_credentials const>(std::move(next));
  std::lock_guard const lock{mutex_};
  current_.swap(made);
}

AGONES_ALLOC_DECL void static_credentials::do_fetch(credentials_ptr, handler done) {
  boost::asio::post(executor_, [own = boost::asio::any_completion_executor{executor_}, done = std::move(done),
                                found = current()]() mutable {
    detail::complete(own, std::move(done), error_code{}, std::move(found));
  });
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
