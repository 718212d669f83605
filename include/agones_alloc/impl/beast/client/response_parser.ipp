#pragma once

#include <agones_alloc/beast/client/response_parser.hpp>

#include <boost/beast/http/field.hpp>

#include <algorithm>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

AGONES_ALLOC_DECL auto read_retry_after(std::string_view value) -> std::optional<std::chrono::seconds> {
  constexpr std::int64_t day = 24 * 60 * 60;
  if (value.empty()) return {};
  std::int64_t seconds = 0;
  for (char const c : value) {
    if (c < '0' || c > '9') return {};
    seconds = std::min(seconds * 10 + (c - '0'), day);
  }
  return std::chrono::seconds{seconds};
}

AGONES_ALLOC_DECL response_parser::response_parser(bool head_only, std::size_t header_bytes,
                                                   std::optional<std::uint64_t> body_bytes)
    : most_{body_bytes} {
  eager(true);
  skip(head_only);
  header_limit(static_cast<std::uint32_t>(header_bytes));
  if (body_bytes) {
    body_limit(*body_bytes);
  } else {
    body_limit(boost::none);
  }
}

AGONES_ALLOC_DECL void response_parser::on_response_impl(int code, text, int, error&) { head.status = code; }

AGONES_ALLOC_DECL void response_parser::on_field_impl(boost::beast::http::field name, text, text value, error&) {
  if (in_body_) return;
  std::string_view const found{value.data(), value.size()};
  if (name == boost::beast::http::field::content_type) head.content_type = found;
  if (name == boost::beast::http::field::retry_after) head.retry_after = read_retry_after(found);
}

AGONES_ALLOC_DECL void response_parser::on_header_impl(error&) {
  in_body_ = true;
  if (auto const length = content_length()) head.content_length = *length;
}

AGONES_ALLOC_DECL void response_parser::on_body_init_impl(boost::optional<std::uint64_t> const& length, error&) {
  // Within the bound only, and never all of a large claim at once: a peer must not make us take memory by a number.
  if (length && most_) body.reserve(static_cast<std::size_t>(std::min<std::uint64_t>({*length, *most_, 1U << 20})));
}

AGONES_ALLOC_DECL auto response_parser::on_body_impl(text bytes, error&) -> std::size_t {
  body.append(bytes.data(), bytes.size());
  return bytes.size();
}

AGONES_ALLOC_DECL auto response_parser::on_chunk_body_impl(std::uint64_t, text bytes, error&) -> std::size_t {
  body.append(bytes.data(), bytes.size());
  return bytes.size();
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
