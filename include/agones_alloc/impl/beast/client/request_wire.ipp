#pragma once

#include <agones_alloc/beast/client/request_wire.hpp>

#include <boost/beast/core/string.hpp>

#include <algorithm>
#include <array>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// By byte: whether it may be part of a token.
inline constexpr auto token_bytes = [] {
  std::array<bool, 256> out{};
  for (char const c : std::string_view{"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ!#$%&'*+-.^_`|~"}) {
    out[static_cast<unsigned char>(c)] = true;
  }
  return out;
}();

inline auto is_token(std::string_view text) noexcept -> bool {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char byte) { return token_bytes[byte]; });
}

inline auto is_field_value(std::string_view text) noexcept -> bool {
  return std::all_of(text.begin(), text.end(), [](char c) {
    auto const byte = static_cast<unsigned char>(c);
    return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
  });
}

/// What decides where a message ends or whom it is for must not be said twice.
inline auto is_the_clients(std::string_view name) noexcept -> bool {
  constexpr std::array<std::string_view, 9> own{"host",       "authorization",  "user-agent",        "connection", "upgrade",
                                                "keep-alive", "content-length", "transfer-encoding", "content-type"};
  return std::any_of(own.begin(), own.end(), [name](std::string_view o) {
    return boost::beast::iequals({o.data(), o.size()}, {name.data(), name.size()});
  });
}

AGONES_ALLOC_DECL auto can_be_written(client_request const& request) noexcept -> bool {
  auto const printable = [](char c) { return c > 0x20 && c < 0x7f; };
  if (!is_token(request.method) || request.method == "CONNECT") return false;
  if (request.target.empty() || request.target.front() != '/') return false;
  if (!std::all_of(request.target.begin(), request.target.end(), printable)) return false;
  if (!is_field_value(request.content_type)) return false;
  return std::all_of(request.headers.begin(), request.headers.end(), [](auto const& field) {
    return is_token(field.first) && !is_the_clients(field.first) && is_field_value(field.second);
  });
}

AGONES_ALLOC_DECL auto host_field(client_endpoint const& endpoint) -> std::string {
  bool const six = endpoint.host.find(':') != std::string::npos;
  auto out = six ? "[" + endpoint.host + "]" : endpoint.host;
  if (endpoint.port != (endpoint.tls ? 443 : 80)) out += ":" + std::to_string(endpoint.port);
  return out;
}

AGONES_ALLOC_DECL auto write_request(client_request const& request, client_endpoint const& endpoint,
                                     std::string_view user_agent, std::string_view authorization) -> std::string {
  // No more than it takes: the allocator of the C library has a quick way for blocks up to a kilobyte.
  auto size = 160 + endpoint.host.size() + user_agent.size() + endpoint.base_path.size() + request.target.size() +
              authorization.size() + request.content_type.size() + request.body.size();
  for (auto const& [name, value] : request.headers) size += name.size() + value.size() + 4;
  std::string out;
  out.reserve(size);
  auto const field = [&out](std::string_view name, std::string_view value) {
    out.append(name).append(": ").append(value).append("\r\n");
  };
  out.append(request.method).append(" ").append(endpoint.base_path).append(request.target).append(" HTTP/1.1\r\n");
  field("Host", host_field(endpoint));
  if (!user_agent.empty()) field("User-Agent", user_agent);
  if (!authorization.empty()) field("Authorization", authorization);
  if (!request.content_type.empty()) field("Content-Type", request.content_type);
  if (!request.body.empty() || !is_safe(request)) field("Content-Length", std::to_string(request.body.size()));
  for (auto const& [name, value] : request.headers) field(name, value);
  out.append("\r\n").append(request.body);
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
