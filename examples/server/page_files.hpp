// The files of the live page, which the build puts into the program.
#pragma once

#include <span>
#include <string_view>

namespace agones_alloc_server {

struct page_file {
  std::string_view name;    ///< without a folder
  std::string_view type;    ///< for Content-Type
  std::string_view tag;     ///< another one for another content; without quotes
  std::string_view text;
  std::string_view packed;  ///< by gzip; "": that would not be smaller
};

auto page_files() -> std::span<page_file const>;

}  // namespace agones_alloc_server
