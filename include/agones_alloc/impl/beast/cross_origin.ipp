#pragma once

#include <agones_alloc/beast/cross_origin.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>

#include <algorithm>
#include <charconv>
#include <system_error>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL auto allowed_origin(http_request const& request, std::span<std::string const> origins) -> std::string {
  if (origins.empty()) return {};
  auto origin = request.header("Origin");
  return std::find(origins.begin(), origins.end(), origin) == origins.end() ? std::string{} : origin;
}

AGONES_ALLOC_DECL auto is_origin(std::string_view text) -> bool {
  static constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789";
  static constexpr std::string_view separator = "://";
  auto const only = [](std::string_view part, std::string_view more) {
    auto const is_one = [more](char c) { return letters.find(c) != std::string_view::npos || more.find(c) != std::string_view::npos; };
    return !part.empty() && std::all_of(part.begin(), part.end(), is_one);
  };
  auto const colon = text.find(separator);
  if (colon == std::string_view::npos || !only(text.substr(0, colon), "+-.")) return false;
  auto const scheme = text.substr(0, colon);
  auto host = text.substr(colon + separator.size());
  auto const bracket = host.starts_with('[') ? host.find(']') : 0;  // of an IPv6 address, which has colons of its own
  if (bracket == std::string_view::npos) return false;
  if (auto const at = host.find(':', bracket); at != std::string_view::npos) {
    auto const digits = host.substr(at + 1);
    unsigned port = 0;
    auto const* const end = digits.data() + digits.size();
    auto const [stopped, fault] = std::from_chars(digits.data(), end, port);
    if (fault != std::errc{} || stopped != end || digits.starts_with('0') || port > 65535) return false;
    if ((scheme == "http" && port == 80) || (scheme == "https" && port == 443)) return false;  // left out by browsers
    host = host.substr(0, at);
  }
  if (bracket == 0) return only(host, "-._");
  return bracket + 1 == host.size() && only(host.substr(1, bracket - 1), ":.");
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
