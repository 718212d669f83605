#pragma once

#include <agones_alloc/beast/remote/endpoint.hpp>
#include <agones_alloc/error.hpp>

#include <boost/asio/ip/address.hpp>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

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

inline auto endpoint_problem(std::string_view whole, std::string_view why) -> std::string {
  return "endpoint \"" + std::string{whole} + "\": " + std::string{why};
}

/// What follows the scheme; `out` has the scheme's port.
inline auto read_place(std::string_view whole, std::string_view text, client_endpoint out)
    -> std::variant<client_endpoint, std::string> {
  if (text.ends_with('/')) text.remove_suffix(1);
  std::string_view host;
  std::string_view port;
  if (!split_endpoint(text, host, port)) return endpoint_problem(whole, "is no host or address with or without a port");
  if (!port.empty()) {
    auto const* const end = port.data() + port.size();
    auto const [stopped, fault] = std::from_chars(port.data(), end, out.port);
    if (fault != std::errc{} || stopped != end || out.port == 0) {
      return endpoint_problem(whole, "a port is a number from 1 to 65535");
    }
  }
  out.host = host;
  return out;
}

/// `text` without its scheme, which is `secure`, `plain` or left out.
inline auto read_endpoint(std::string_view text, std::string_view secure, std::string_view plain, bool allow_plaintext,
                          std::string_view refusal) -> std::variant<client_endpoint, std::string> {
  auto const whole = text;
  client_endpoint out;
  if (text.starts_with(secure)) {
    text.remove_prefix(secure.size());
  } else if (text.starts_with(plain)) {
    if (!allow_plaintext) return endpoint_problem(whole, refusal);
    text.remove_prefix(plain.size());
    out.tls = false;
    out.port = 80;
  }
  return read_place(whole, text, std::move(out));
}

}  // namespace detail

AGONES_ALLOC_DECL auto parse_endpoint(std::string_view text, bool allow_plaintext)
    -> std::variant<client_endpoint, std::string> {
  if (text.starts_with("grpc://") || text.starts_with("grpc+http://")) {
    return detail::endpoint_problem(text, "is for gRPC, where HTTPS is spoken");
  }
  return detail::read_endpoint(text, "https://", "http://", allow_plaintext, "plain HTTP is not allowed");
}

AGONES_ALLOC_DECL auto protocol_of(std::string_view endpoint, remote_protocol otherwise) noexcept -> remote_protocol {
  if (endpoint.starts_with("grpc://") || endpoint.starts_with("grpc+http://")) return remote_protocol::grpc;
  if (endpoint.starts_with("https://") || endpoint.starts_with("http://")) return remote_protocol::rest;
  return otherwise;
}

AGONES_ALLOC_DECL auto parse_grpc_endpoint(std::string_view text, bool allow_plaintext)
    -> std::variant<client_endpoint, std::string> {
  return detail::read_endpoint(text, "grpc://", "grpc+http://", allow_plaintext, "gRPC without TLS is not allowed");
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
