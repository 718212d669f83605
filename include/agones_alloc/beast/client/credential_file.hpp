// Reads a file that holds a certificate, a key or a token.
#pragma once

#include <agones_alloc/config.hpp>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <ios>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

inline constexpr std::size_t most_credential_bytes = 1U << 20U;

/// Replaces `out`; the problem in words, "" for none.
inline auto read_credential_file(std::string const& path, std::string& out) -> std::string {
  errno = 0;
  std::ifstream in{path, std::ios::binary};
  std::string text(most_credential_bytes + 1, '\0');
  if (in) in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!in.is_open() || in.bad() || (in.fail() && !in.eof())) {
    return path + ": " + (errno != 0 ? std::strerror(errno) : "cannot be read");
  }
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > most_credential_bytes) {
    return path + ": is larger than " + std::to_string(most_credential_bytes) + " bytes";
  }
  if (text.empty()) return path + ": is empty";
  out = std::move(text);
  return {};
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
