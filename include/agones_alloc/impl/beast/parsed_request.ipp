#pragma once

#include <agones_alloc/beast/parsed_request.hpp>

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

template <class Text>
auto std_view(Text const& text) noexcept -> std::string_view {
  return {text.data(), text.size()};
}

AGONES_ALLOC_DECL parsed_request::parsed_request(request_parser::value_type const& message,
                                                 boost::beast::http::fields const& fields)
    : fields_{&fields} {
  method = std_view(message.method_string());
  auto target = std_view(message.target());
  if (!target.starts_with('/')) {  // absolute form: http://host/path
    auto const authority = target.find("://");
    auto const begin = authority == std::string_view::npos ? authority : target.find_first_of("/?", authority + 3);
    target = begin == std::string_view::npos ? std::string_view{"/"} : target.substr(begin);
  }
  auto const mark = target.find('?');
  path = target.substr(0, mark);
  if (mark != std::string_view::npos) query = target.substr(mark + 1);
  body = message.body();
}

AGONES_ALLOC_DECL auto parsed_request::header(std::string_view name) const -> std::string {
  std::string out;
  auto const [first, last] = fields_->equal_range(boost::beast::string_view{name.data(), name.size()});
  for (auto at = first; at != last; ++at) {
    if (at != first) out += ", ";
    out += std_view(at->value());
  }
  return out;
}

AGONES_ALLOC_DECL void parsed_request::visit_headers(
    std::function<void(std::string_view, std::string_view)> const& visit) const {
  for (auto const& field : *fields_) visit(std_view(field.name_string()), std_view(field.value()));
}

AGONES_ALLOC_DECL auto to_protocol_error(boost::system::error_code ec, http_limits const& limits) -> protocol_error {
  using boost::beast::http::error;
  if (ec == error::body_limit) {
    return {413, "the request's body is larger than " + std::to_string(limits.body_bytes) + " bytes"};
  }
  if (ec == error::header_limit || ec == error::buffer_overflow) {
    return {431, "the request's header is larger than " + std::to_string(limits.header_bytes) + " bytes"};
  }
  if (ec == error::bad_version) return {505, "HTTP/1.1 and HTTP/1.0 are spoken here; a blank in the target is to be written as %20, and a line ends with CR LF"};
  return {400, "malformed request: " + ec.message()};
}

AGONES_ALLOC_DECL auto check_header(request_parser::value_type const& message) -> std::optional<protocol_error> {
  using boost::beast::http::field;
  if (message.version() != 10 && message.version() != 11) return protocol_error{505, "HTTP/1.1 and HTTP/1.0 are spoken here"};
  if (message.count(field::host) > 1 || (message.version() == 11 && message.count(field::host) == 0)) {
    return protocol_error{400, "malformed request: exactly one Host field is wanted"};
  }
  // What is no host and port may mean one thing here and another one in front of here.
  static constexpr std::string_view of_hosts =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+;=%:[]";
  if (std_view(message[field::host]).find_first_not_of(of_hosts) != std::string_view::npos) {
    return protocol_error{400, "malformed request: Host: a name or address is wanted, with or without a port"};
  }
  auto const target = std_view(message.target());
  auto const begins_with = [target](std::string_view scheme) { return boost::beast::iequals(target.substr(0, scheme.size()), scheme); };
  if (!target.starts_with('/') && !begins_with("http://") && !begins_with("https://") &&
      (target != "*" || message.method() != boost::beast::http::verb::options)) {
    return protocol_error{400, "malformed request: the target is not a path"};
  }
  // Anything but this exact form is how two servers come to disagree on where a request ends.
  if (auto const count = message.count(field::transfer_encoding); count != 0) {
    if (message.version() == 10) return protocol_error{400, "malformed request: Transfer-Encoding in HTTP/1.0"};
    if (count != 1 || !boost::beast::iequals(message[field::transfer_encoding], "chunked")) {
      return protocol_error{501, "Transfer-Encoding: only chunked is understood"};
    }
  }
  auto const [first, last] = message.equal_range(field::content_encoding);
  for (auto at = first; at != last; ++at) {
    if (!boost::beast::iequals(at->value(), "identity")) {
      return protocol_error{415, "Content-Encoding: only identity is understood"};
    }
  }
  if (auto const at = message.find(field::expect); at != message.end()) {
    if (!boost::beast::iequals(at->value(), "100-continue")) {
      return protocol_error{417, "Expect: only 100-continue is understood"};
    }
  }
  return std::nullopt;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
