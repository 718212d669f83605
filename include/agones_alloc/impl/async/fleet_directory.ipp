#pragma once

#include <agones_alloc/async/detail/fleet_directory_core.hpp>
#include <agones_alloc/async/fleet_directory.hpp>
#include <agones_alloc/async/fleet_watch.hpp>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <system_error>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline auto directory_instance(fleet_directory_options const& options, timer const& time) -> std::string {
  auto out = options.instance;
  if (out.empty()) {
    char digits[16];
    auto const now = static_cast<std::uint64_t>(time.wall_now().time_since_epoch().count());
    out.assign(digits, std::to_chars(digits, digits + sizeof digits, now, 16).ptr);
  }
  bool const plain = std::all_of(out.begin(), out.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
  if (!plain || out.size() > 64) throw std::invalid_argument{"fleet_directory_options.instance: letters and digits are wanted"};
  return out;
}

}  // namespace detail

AGONES_ALLOC_DECL fleet_directory::fleet_directory(boost::asio::any_io_executor executor, timer& time,
                                                   fleet_directory_options options) {
  if (!executor) throw std::invalid_argument{"fleet_directory: executor: must not be empty"};
  if (options.gather < std::chrono::nanoseconds{0} || options.gather > std::chrono::seconds{10}) {
    throw std::invalid_argument{"fleet_directory_options.gather is out of range"};
  }
  auto instance = detail::directory_instance(options, time);
  cluster_info local;
  local.name = options.book.cluster;
  local.local = true;
  local.observed = time.wall_now();
  core_ = std::make_shared<detail::fleet_directory_core>(std::move(executor), time, std::move(options.book), options.gather,
                                                         std::move(instance));
  set_cluster(std::move(local));
}

AGONES_ALLOC_DECL fleet_directory::~fleet_directory() { core_->stop(); }

AGONES_ALLOC_DECL void fleet_directory::stored(game_server_ptr const& server) {
  core_->store(server);
}
AGONES_ALLOC_DECL void fleet_directory::erased(object_key const& key, std::string_view uid) {
  core_->change([&](fleet_book& book) { book.erase(key, uid); });
}
AGONES_ALLOC_DECL void fleet_directory::replaced(std::span<game_server_ptr const> servers, std::string_view version) {
  core_->change([&](fleet_book& book) {
    book.replace_all(servers, version);
    core_->heard();
  });
}
AGONES_ALLOC_DECL void fleet_directory::lost(error_code why) {
  core_->change([&](fleet_book&) { core_->lost(why); });
}
AGONES_ALLOC_DECL void fleet_directory::regained() {
  core_->change([&](fleet_book&) { core_->heard(); });
}
AGONES_ALLOC_DECL void fleet_directory::set_fleets(std::span<fleet_ptr const> fleets) {
  core_->change([&](fleet_book& book) { book.set_fleets(fleets); });
}
AGONES_ALLOC_DECL void fleet_directory::put_fleet(fleet_ptr const& one) {
  core_->change([&](fleet_book& book) { book.put_fleet(one); });
}
AGONES_ALLOC_DECL void fleet_directory::erase_fleet(object_key const& key) {
  core_->change([&](fleet_book& book) { book.erase_fleet(key); });
}
AGONES_ALLOC_DECL void fleet_directory::begin_list(std::string_view cluster) {
  core_->change([&](fleet_book& book) { book.begin_list(cluster); });
}
AGONES_ALLOC_DECL void fleet_directory::end_list(std::string_view cluster) {
  core_->change([&](fleet_book& book) { book.end_list(cluster); });
}
AGONES_ALLOC_DECL auto fleet_directory::put(std::vector<fleet_info> fleets) -> bool {
  return core_->change([&](fleet_book& book) {
    bool room = true;
    for (auto& one : fleets) room = book.put(std::move(one)) && room;
    return room;
  });
}
AGONES_ALLOC_DECL void fleet_directory::remove(fleet_key const& key) {
  core_->change([&](fleet_book& book) { book.remove(key); });
}
AGONES_ALLOC_DECL void fleet_directory::set_cluster(cluster_info now) {
  core_->change([&](fleet_book& book) { book.set_cluster(std::move(now)); });
}
AGONES_ALLOC_DECL void fleet_directory::remove_cluster(std::string_view cluster) {
  core_->change([&](fleet_book& book) { book.remove_cluster(cluster); });
}

AGONES_ALLOC_DECL auto fleet_directory::snapshot(fleet_filter const& filter, std::optional<fleet_key> const& after,
                                                 std::size_t limit) const -> fleet_page {
  return core_->look([&](fleet_book const& book, timer::wall_time wall) { return book.page(filter, after, limit, wall); });
}

AGONES_ALLOC_DECL auto fleet_directory::servers(std::string_view ns, std::string_view fleet, std::string_view after,
                                                std::size_t limit, bool& more) const -> std::vector<game_server_ptr> {
  return core_->look([&](fleet_book const& book, timer::wall_time) { return book.servers(ns, fleet, after, limit, more); });
}

AGONES_ALLOC_DECL auto fleet_directory::watch(fleet_filter filter, std::string_view token) -> fleet_watch {
  fleet_cursor from;
  if (!token.empty()) {
    from.reset = true;
    auto const& instance = core_->instance();
    std::uint64_t revision = 0;
    if (token.size() > instance.size() + 1 && token.starts_with(instance) && token[instance.size()] == '-') {
      auto const* const begin = token.data() + instance.size() + 1;
      auto const* const end = token.data() + token.size();
      auto const [stopped, fault] = std::from_chars(begin, end, revision);
      bool const known = fault == std::errc{} && stopped == end &&
                         core_->look([&](fleet_book const& book, timer::wall_time) { return book.remembers(revision); });
      if (known) from = {fleet_cursor::phase::following, false, std::nullopt, 0, revision};
    }
  }
  return {core_, std::move(filter), std::move(from)};
}

AGONES_ALLOC_DECL auto fleet_directory::token_of(std::uint64_t revision) const -> std::string {
  return core_->instance() + "-" + std::to_string(revision);
}

AGONES_ALLOC_DECL auto fleet_directory::cluster() const noexcept -> std::string const& { return core_->cluster(); }

AGONES_ALLOC_DECL auto fleet_directory::statistics() const -> fleet_directory_statistics {
  return core_->look([&](fleet_book const& book, timer::wall_time) {
    return fleet_directory_statistics{book.fleets(), book.server_count(), core_->watches(), book.revision(),
                                      core_->publications()};
  });
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
