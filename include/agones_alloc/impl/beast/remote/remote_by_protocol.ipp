#pragma once

#include <agones_alloc/async/detail/complete.hpp>
#include <agones_alloc/beast/remote/remote_by_protocol.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

/// Never inside the initiating function.
template <class Handler, class Result>
void complete_later(boost::asio::any_io_executor const& executor, Handler done, Result result) {
  boost::asio::post(executor, [own = boost::asio::any_completion_executor{executor}, done = std::move(done),
                               result = std::move(result)]() mutable { complete(own, std::move(done), std::move(result)); });
}

}  // namespace detail

AGONES_ALLOC_DECL void remote_by_protocol::close() {
  if (tried_ != nullptr) tried_->close();
  rest_->close();
  if (grpc_ != nullptr) grpc_->close();
}

AGONES_ALLOC_DECL auto remote_by_protocol::of(remote_call const& call) const noexcept -> connected_remote* {
  switch (protocol_of(call.endpoint.view(), otherwise_)) {
    case remote_protocol::grpc: return grpc_;
    case remote_protocol::by_trying: return tried_;
    case remote_protocol::rest: break;
  }
  return rest_;
}

AGONES_ALLOC_DECL auto remote_by_protocol::problem(remote_call const& call) const -> std::string {
  return "endpoint \"" + call.endpoint.str() + "\": " + missing_;
}

AGONES_ALLOC_DECL void remote_by_protocol::do_allocate(remote_call call, handler done) {
  if (auto* const to = of(call)) return to->async_allocate(std::move(call), std::move(done));
  remote_result out;
  out.message = problem(call);
  detail::complete_later(executor_, std::move(done), std::move(out));
}

AGONES_ALLOC_DECL void remote_by_protocol::do_probe(remote_call call, probe_handler done) {
  if (auto* const to = of(call)) return to->async_probe(std::move(call), std::move(done));
  detail::complete_later(executor_, std::move(done), problem(call));
}

AGONES_ALLOC_DECL void remote_by_protocol::tell_endpoints(endpoints_handler done) {
  if (grpc_ == nullptr) return rest_->async_endpoints(std::move(done));
  rest_->async_endpoints(boost::asio::bind_executor(
      executor_, [this, done = std::move(done)](std::vector<remote_endpoint_state> all) mutable {
        grpc_->async_endpoints(boost::asio::bind_executor(
            executor_, [executor = executor_, all = std::move(all), done = std::move(done)](std::vector<remote_endpoint_state> more) mutable {
              std::move(more.begin(), more.end(), std::back_inserter(all));
              std::stable_sort(all.begin(), all.end(), [](auto const& a, auto const& b) { return a.endpoint < b.endpoint; });
              detail::complete(boost::asio::any_completion_executor{executor}, std::move(done), std::move(all));
            }));
      }));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
