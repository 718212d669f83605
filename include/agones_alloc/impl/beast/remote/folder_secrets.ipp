#pragma once

#include <agones_alloc/async/detail/complete.hpp>
#include <agones_alloc/beast/client/credential_file.hpp>
#include <agones_alloc/beast/remote/folder_secrets.hpp>

#include <boost/asio/post.hpp>

#include <algorithm>
#include <system_error>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

/// The letters of a DNS subdomain, and no way out of a folder.
inline auto is_plain_name(std::string_view name) noexcept -> bool {
  return !name.empty() && name.size() <= 253 && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
         });
}

inline auto read_secret_folder(std::filesystem::path const& folder, secret_data& out) -> error_code {
  constexpr std::size_t most_keys = 32;
  std::error_code ec;
  for (std::filesystem::directory_iterator at{folder, ec}, end; !ec && at != end; at.increment(ec)) {
    auto const key = at->path().filename().string();
    std::error_code ignored;
    // A mounted Secret keeps its versions in folders whose names begin with two dots.
    if (key.starts_with("..") || !std::filesystem::is_regular_file(at->path(), ignored)) continue;
    if (out.entries.size() == most_keys) {
      out.problem = folder.string() + ": holds more than 32 files";
      return errc::malformed;
    }
    if (auto bad = read_credential_file(at->path().string(), out.entries[key]); !bad.empty()) {
      out.problem = std::move(bad);
      return errc::unavailable;
    }
  }
  if (!ec) return {};
  out.problem = folder.string() + ": " + ec.message();
  return errc::unavailable;
}

inline auto read_secret(std::filesystem::path const& root, std::string const& space, std::string const& name,
                        secret_data& out) -> error_code {
  if (is_plain_name(name)) {
    std::error_code ignored;
    if (is_plain_name(space) && std::filesystem::is_directory(root / space / name, ignored)) {
      return read_secret_folder(root / space / name, out);
    }
    if (std::filesystem::is_directory(root / name, ignored)) return read_secret_folder(root / name, out);
  }
  out.problem = "no folder of that name in " + root.string();
  return errc::not_found;
}

}  // namespace detail

AGONES_ALLOC_DECL void folder_secrets::do_get(std::string space, std::string name, handler done) {
  secret_data out;
  auto const ec = detail::read_secret(root_, space, name, out);
  if (ec) out.entries.clear();
  boost::asio::post(executor_, [own = boost::asio::any_completion_executor{executor_}, done = std::move(done), ec,
                                out = std::move(out)]() mutable {
    detail::complete(own, std::move(done), ec, std::move(out));
  });
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
