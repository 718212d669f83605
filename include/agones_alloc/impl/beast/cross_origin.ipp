#pragma once

#include <agones_alloc/beast/cross_origin.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>

#include <algorithm>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL auto allowed_origin(http_request const& request, std::span<std::string const> origins) -> std::string {
  if (origins.empty()) return {};
  auto origin = request.header("Origin");
  return std::find(origins.begin(), origins.end(), origin) == origins.end() ? std::string{} : origin;
}

AGONES_ALLOC_DECL void cross_origin::handle(http_request const& request, reply done) {
  auto origin = allowed_origin(request, origins_);
  if (origin.empty()) return behind_->handle(request, std::move(done));
  if (request.method == "OPTIONS") {
    http_response out;
    out.status = 204;
    out.headers = {{"Access-Control-Allow-Origin", std::move(origin)},
                   {"Access-Control-Allow-Methods", "GET, HEAD, POST"},
                   {"Access-Control-Allow-Headers", "Content-Type, Last-Event-ID, If-None-Match"},
                   {"Access-Control-Max-Age", "600"},
                   {"Vary", "Origin"}};
    out.route = "cors";
    return std::move(done)(std::move(out));
  }
  auto const slot = boost::asio::get_associated_cancellation_slot(done);
  auto const executor = boost::asio::get_associated_executor(done);
  auto told = [done = std::move(done), origin = std::move(origin)](http_response response) mutable {
    response.headers.emplace_back("Access-Control-Allow-Origin", std::move(origin));
    response.headers.emplace_back("Access-Control-Expose-Headers", "ETag");
    response.headers.emplace_back("Vary", "Origin");
    std::move(done)(std::move(response));
  };
  behind_->handle(request, reply{boost::asio::bind_cancellation_slot(slot, boost::asio::bind_executor(executor, std::move(told)))});
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
