#pragma once

#include <agones_alloc/beast/http_head.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline void append_number(std::string& out, std::uint64_t number) {
  char digits[20];
  auto const end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  out.append(digits, end);
}

inline void append_two_digits(std::string& out, unsigned number) {
  out += static_cast<char>('0' + number / 10 % 10);
  out += static_cast<char>('0' + number % 10);
}

/// A line break in a value that came from a request must not start a field of its own.
inline void append_field_text(std::string& out, std::string_view text) {
  auto const begin = static_cast<std::ptrdiff_t>(out.size());
  out.append(text);
  std::replace_if(out.begin() + begin, out.end(), [](unsigned char byte) { return byte < 0x20 || byte == 0x7f; }, ' ');
}

inline void append_field(std::string& out, std::string_view name, std::string_view value) {
  append_field_text(out, name);
  out += ": ";
  append_field_text(out, value);
  out += "\r\n";
}

}  // namespace detail

AGONES_ALLOC_DECL auto reason_phrase(int status) noexcept -> std::string_view {
  switch (status) {
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 203: return "Non-Authoritative Information";
    case 204: return "No Content";
    case 205: return "Reset Content";
    case 206: return "Partial Content";
    case 300: return "Multiple Choices";
    case 301: return "Moved Permanently";
    case 302: return "Found";
    case 303: return "See Other";
    case 304: return "Not Modified";
    case 307: return "Temporary Redirect";
    case 308: return "Permanent Redirect";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 402: return "Payment Required";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 407: return "Proxy Authentication Required";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 411: return "Length Required";
    case 412: return "Precondition Failed";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 416: return "Range Not Satisfiable";
    case 417: return "Expectation Failed";
    case 421: return "Misdirected Request";
    case 422: return "Unprocessable Content";
    case 423: return "Locked";
    case 424: return "Failed Dependency";
    case 425: return "Too Early";
    case 426: return "Upgrade Required";
    case 428: return "Precondition Required";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 451: return "Unavailable For Legal Reasons";
    case 499: return "Client Closed Request";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    case 506: return "Variant Also Negotiates";
    case 507: return "Insufficient Storage";
    case 508: return "Loop Detected";
    case 511: return "Network Authentication Required";
    default: return "Unknown";
  }
}

AGONES_ALLOC_DECL auto http_date(std::chrono::sys_seconds when) -> std::string {
  static constexpr std::array<std::string_view, 7> days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                           "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  auto const day = std::chrono::floor<std::chrono::days>(when);
  std::chrono::year_month_day const date{day};
  std::chrono::hh_mm_ss const clock{when - day};
  std::string out{days[std::chrono::weekday{day}.c_encoding()]};
  out += ", ";
  detail::append_two_digits(out, static_cast<unsigned>(date.day()));
  out += ' ';
  out += months[static_cast<unsigned>(date.month()) - 1];
  out += ' ';
  auto const year = static_cast<unsigned>(static_cast<int>(date.year()));
  detail::append_two_digits(out, year / 100);
  detail::append_two_digits(out, year % 100);
  out += ' ';
  detail::append_two_digits(out, static_cast<unsigned>(clock.hours().count()));
  out += ':';
  detail::append_two_digits(out, static_cast<unsigned>(clock.minutes().count()));
  out += ':';
  detail::append_two_digits(out, static_cast<unsigned>(clock.seconds().count()));
  out += " GMT";
  return out;
}

AGONES_ALLOC_DECL void append_head(std::string& out, http_response const& response, std::string_view date,
                                   bool keep_alive, bool http_1_0) {
  out += "HTTP/1.1 ";
  detail::append_number(out, static_cast<std::uint64_t>(response.status));
  out += ' ';
  out += reason_phrase(response.status);
  out += "\r\nDate: ";
  out += date;
  bool const has_body = response.status != 204 && response.status != 304;
  if (response.stream != nullptr) {
    if (!http_1_0) out += "\r\nTransfer-Encoding: chunked";
  } else if (has_body) {
    out += "\r\nContent-Length: ";
    detail::append_number(out, response.body.size());
  }
  out += "\r\n";
  if (!response.content_type.empty()) detail::append_field(out, "Content-Type", response.content_type);
  if (!keep_alive) {
    out += "Connection: close\r\n";
  } else if (http_1_0) {
    out += "Connection: keep-alive\r\n";
  }
  for (auto const& [name, value] : response.headers) detail::append_field(out, name, value);
  out += "\r\n";
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
