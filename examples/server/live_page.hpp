// The live page at `/`.
#pragma once

#include <agones_alloc/beast/http_handler.hpp>

#include <string_view>

namespace agones_alloc_server {

/// Answers GET and HEAD of `/` and of its files below `/page/`, with a strong ETag (304 for If-None-Match), packed for who
/// accepts gzip, and fields that let the page load nothing but its own files and talk to nobody but this server. All it
/// shows it reads from the paths for programs. Thread safety: any.
class live_page final : public agones_alloc::http_handler {
 public:
  static constexpr std::string_view root = "/";
  static constexpr std::string_view folder = "/page/";

  static auto serves(std::string_view path) -> bool { return path == root || path.starts_with(folder); }

  void handle(agones_alloc::http_request const&, reply) override;
};

}  // namespace agones_alloc_server
