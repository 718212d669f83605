#pragma once

#include <agones_alloc/beast/remote/endpoint.hpp>
#include <agones_alloc/error.hpp>

#include <boost/asio/ip/address.hpp>

#include <algorithm>
#include <charconv>
#include <system_error>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline auto is_host_text(std::string_view host) noexcept -> bool {
  return !host.empty() && host.size() <= 253 && std::all_of(host.begin(), host.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
  });
}

inline auto is_address_6(std::string_view host) -> bool {
  error_code ec;
  boost::asio::ip::make_address_v6(std::string{host}, ec);
  return !ec;
}

/// Host and port apart; false: not of this form.
inline auto split_endpoint(std::string_view text, std::string_view& host, std::string_view& port) -> bool {
  if (text.starts_with('[')) {
    auto const end = text.find(']');
    if (end == std::string_view::npos) return false;
    host = text.substr(1, end - 1);
    auto const rest = text.substr(end + 1);
    if (!is_address_6(host) || (!rest.empty() && !rest.starts_with(':'))) return false;
    port = rest.empty() ? rest : rest.substr(1);
    return rest.empty() || !port.empty();
  }
  auto const first = text.find(':');
  if (first != std::string_view::npos && text.find(':', first + 1) != std::string_view::npos) {
    host = text;  // an IPv6 address without a port
    return is_address_6(host);
  }
  host = text.substr(0, first);
  if (first != std::string_view::npos) port = text.substr(first + 1);
  return is_host_text(host) && (first == std::string_view::npos || !port.empty());
}

}  // namespace detail

AGONES_ALLOC_DECL auto parse_endpoint(std::string_view text, bool allow_plaintext)
    -> std::variant<client_endpoint, std::string> {
  auto const whole = text;
  client_endpoint out;
  if (text.starts_with("https://")) {
    text.remove_prefix(8);
  } else if (text.starts_with("http://")) {
    if (!allow_plaintext) return "endpoint \"" + std::string{whole} + "\": plain HTTP is not allowed";
    text.remove_prefix(7);
    out.tls = false;
    out.port = 80;
  }
  if (text.ends_with('/')) text.remove_suffix(1);
  std::string_view host;
  std::string_view port;
  if (!detail::split_endpoint(text, host, port)) {
    return "endpoint \"" + std::string{whole} + "\": is no host or address with or without a port";
  }
  if (!port.empty()) {
    auto const* const end = port.data() + port.size();
    auto const [stopped, fault] = std::from_chars(port.data(), end, out.port);
    if (fault != std::errc{} || stopped != end || out.port == 0) {
      return "endpoint \"" + std::string{whole} + "\": a port is a number from 1 to 65535";
    }
  }
  out.host = host;
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
