#pragma once

#include <agones_alloc/beast/detail/field_words.hpp>
#include <agones_alloc/beast/parsed_request.hpp>

#include <boost/beast/http/error.hpp>

#include <algorithm>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

// Of the memory for a request that a connection keeps for the next.
inline constexpr std::size_t kept_request_bytes = 4096;

inline auto std_view(boost::beast::string_view text) noexcept -> std::string_view { return {text.data(), text.size()}; }

AGONES_ALLOC_DECL auto request_text::count(boost::beast::http::field id) const noexcept -> std::size_t {
  return static_cast<std::size_t>(std::count_if(fields_.begin(), fields_.end(), [id](entry const& one) { return one.id == id; }));
}

AGONES_ALLOC_DECL auto request_text::value_of(std::string_view name) const -> std::string {
  std::string out;
  bool first = true;
  for (auto const& one : fields_) {
    if (one.name.size != name.size() || !same_word(at(one.name), name)) continue;
    if (!std::exchange(first, false)) out += ", ";
    out += at(one.value);
  }
  return out;
}

AGONES_ALLOC_DECL void request_text::clear() {
  if (text_.capacity() > kept_request_bytes) text_ = {};
  if (body.capacity() > kept_request_bytes) body = {};
  if (fields_.capacity() * sizeof(entry) > kept_request_bytes) fields_ = {};
  text_.clear();
  body.clear();
  fields_.clear();
  method_ = target_ = {};
  version = 0;
}

AGONES_ALLOC_DECL auto request_text::add(std::string_view text) -> part {
  part const out{text_.size(), text.size()};
  text_.append(text);
  return out;
}

AGONES_ALLOC_DECL void request_text::set_line(std::string_view method, std::string_view target, int http_version) {
  constexpr std::size_t usual_text = 500;
  constexpr std::size_t usual_fields = 12;
  text_.reserve(usual_text);
  fields_.reserve(usual_fields);
  method_ = add(method);
  target_ = add(target);
  version = http_version;
}

AGONES_ALLOC_DECL void request_text::add_field(boost::beast::http::field id, std::string_view name, std::string_view value) {
  auto const name_at = add(name);
  fields_.push_back({id, name_at, add(value)});
}

AGONES_ALLOC_DECL request_parser::request_parser(request_text& to, http_limits const& limits) : to_{&to} {
  header_limit(static_cast<std::uint32_t>(limits.header_bytes));
  body_limit(limits.body_bytes);
}

AGONES_ALLOC_DECL void request_parser::on_request_impl(boost::beast::http::verb, text method, text target, int version, error&) {
  to_->set_line(std_view(method), std_view(target), version);
}

AGONES_ALLOC_DECL void request_parser::on_field_impl(boost::beast::http::field id, text name, text value, error&) {
  if (!in_body_) to_->add_field(id, std_view(name), std_view(value));
}

AGONES_ALLOC_DECL void request_parser::on_body_init_impl(boost::optional<std::uint64_t> const& length, error&) {
  // Never all of a large claim at once: a client must not make us take memory by a number.
  if (length) to_->body.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(*length, 64U * 1024U)));
}

AGONES_ALLOC_DECL auto request_parser::on_body_impl(text bytes, error&) -> std::size_t {
  to_->body.append(bytes.data(), bytes.size());
  return bytes.size();
}

AGONES_ALLOC_DECL auto request_parser::on_chunk_body_impl(std::uint64_t, text bytes, error&) -> std::size_t {
  to_->body.append(bytes.data(), bytes.size());
  return bytes.size();
}

AGONES_ALLOC_DECL parsed_request::parsed_request(request_text const& text) : text_{&text} {
  method = text.method();
  auto target = text.target();
  if (!target.starts_with('/')) {  // absolute form: http://host/path
    auto const authority = target.find("://");
    auto const begin = authority == std::string_view::npos ? authority : target.find_first_of("/?", authority + 3);
    target = begin == std::string_view::npos ? std::string_view{"/"} : target.substr(begin);
  }
  auto const mark = target.find('?');
  path = target.substr(0, mark);
  if (mark != std::string_view::npos) query = target.substr(mark + 1);
  body = text.body;
}

AGONES_ALLOC_DECL auto parsed_request::header(std::string_view name) const -> std::string {
  return text_->value_of(name);
}

AGONES_ALLOC_DECL void parsed_request::visit_headers(
    std::function<void(std::string_view, std::string_view)> const& visit) const {
  for (std::size_t i = 0; i != text_->size(); ++i) visit((*text_)[i].name, (*text_)[i].value);
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

AGONES_ALLOC_DECL auto check_header(request_text const& text) -> std::optional<protocol_error> {
  using boost::beast::http::field;
  if (text.version != 10 && text.version != 11) return protocol_error{505, "HTTP/1.1 and HTTP/1.0 are spoken here"};
  auto const hosts = text.count(field::host);
  if (hosts > 1 || (text.version == 11 && hosts == 0)) {
    return protocol_error{400, "malformed request: exactly one Host field is wanted"};
  }
  auto const target = text.target();
  auto const begins_with = [target](std::string_view scheme) { return same_word(target.substr(0, scheme.size()), scheme); };
  if (!target.starts_with('/') && !begins_with("http://") && !begins_with("https://") && (target != "*" || text.method() != "OPTIONS")) {
    return protocol_error{400, "malformed request: the target is not a path"};
  }
  static constexpr std::string_view of_hosts =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+;=%:[]";
  for (std::size_t i = 0; i != text.size(); ++i) {
    auto const one = text[i];
    switch (one.id) {
      case field::host:
        // What is no host and port may mean one thing here and another one in front of here.
        if (one.value.find_first_not_of(of_hosts) != std::string_view::npos) {
          return protocol_error{400, "malformed request: Host: a name or address is wanted, with or without a port"};
        }
        break;
      case field::transfer_encoding:
        // Anything but this exact form is how two servers come to disagree on where a request ends.
        if (text.version == 10) return protocol_error{400, "malformed request: Transfer-Encoding in HTTP/1.0"};
        if (text.count(one.id) != 1 || !same_word(one.value, "chunked")) {
          return protocol_error{501, "Transfer-Encoding: only chunked is understood"};
        }
        break;
      case field::content_encoding:
        if (!same_word(one.value, "identity")) return protocol_error{415, "Content-Encoding: only identity is understood"};
        break;
      case field::expect:
        if (!same_word(one.value, "100-continue")) return protocol_error{417, "Expect: only 100-continue is understood"};
        break;
      default: break;
    }
  }
  return std::nullopt;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
