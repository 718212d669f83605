#include "live_page.hpp"

#include "page_files.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace agones_alloc_server {

using namespace agones_alloc;

namespace {

/// Scripts and styles are files of this server, connections go to it; nothing can be framed, nothing becomes markup.
constexpr std::string_view policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// Elements of a list (RFC 9110 5.6.1), without blanks at their ends.
template <class Predicate>
auto any_element(std::string_view field, Predicate holds) -> bool {
  while (!field.empty()) {
    auto const end = std::min(field.find(','), field.size());
    auto one = field.substr(0, end);
    field.remove_prefix(std::min(end + 1, field.size()));
    while (one.starts_with(' ')) one.remove_prefix(1);
    while (one.ends_with(' ')) one.remove_suffix(1);
    if (holds(one)) return true;
  }
  return false;
}

/// A weight of nothing refuses it (RFC 9110 12.5.3).
auto accepts_gzip(std::string_view field) -> bool {
  return any_element(field, [](std::string_view one) {
    auto const end = std::min(one.find(';'), one.size());
    auto coding = one.substr(0, end);
    while (coding.ends_with(' ')) coding.remove_suffix(1);
    if (coding != "gzip") return false;
    auto const weight = one.find("q=", end);
    return weight == std::string_view::npos || one.substr(weight + 2).find_first_of("123456789") != std::string_view::npos;
  });
}

auto is_known(std::string_view field, std::string_view tag) -> bool {
  return any_element(field, [&](std::string_view one) {
    if (one.starts_with("W/")) one.remove_prefix(2);
    return one == "*" || one == tag;
  });
}

auto find_file(std::string_view path) -> page_file const* {
  auto const name = path == live_page::root ? std::string_view{"index.html"} : path.substr(live_page::folder.size());
  for (auto const& file : page_files()) {
    if (file.name == name) return &file;
  }
  return nullptr;
}

auto answer(http_request const& request) -> http_response {
  auto const* const file = find_file(request.path);
  if (file == nullptr) return text_response(404, "404 page not found");
  if (request.method != "GET" && request.method != "HEAD") {
    auto out = text_response(405, "Method Not Allowed");
    out.headers.emplace_back("Allow", "GET, HEAD");
    return out;
  }
  bool const packed = !file->packed.empty() && accepts_gzip(request.header("Accept-Encoding"));
  auto tag = "\"" + std::string{file->tag} + (packed ? "-gzip\"" : "\"");
  http_response out;
  out.headers.emplace_back("Cache-Control", "no-cache");  // asked again each time, and mostly answered with 304
  out.headers.emplace_back("Vary", "Accept-Encoding");
  if (is_known(request.header("If-None-Match"), tag)) {
    out.status = 304;
  } else {
    out.content_type = file->type;
    out.body = packed ? file->packed : file->text;
    if (packed) out.headers.emplace_back("Content-Encoding", "gzip");
  }
  out.headers.emplace_back("ETag", std::move(tag));
  return out;
}

}  // namespace

void live_page::handle(http_request const& request, reply done) {
  auto out = answer(request);
  out.route = "page";
  out.headers.emplace_back("Content-Security-Policy", policy);
  out.headers.emplace_back("X-Content-Type-Options", "nosniff");
  out.headers.emplace_back("Referrer-Policy", "no-referrer");
  out.headers.emplace_back("Cross-Origin-Opener-Policy", "same-origin");
  out.headers.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
  std::move(done)(std::move(out));
}

}  // namespace agones_alloc_server
