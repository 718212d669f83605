#pragma once

#include <agones_alloc/async/detail/object_table.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

AGONES_ALLOC_DECL auto version_text(std::uint64_t version) -> shared_string {
  char text[20];
  auto const end = std::to_chars(text, text + sizeof text, version).ptr;
  return shared_string{std::string_view{text, static_cast<std::size_t>(end - text)}};
}

AGONES_ALLOC_DECL auto version_number(std::string_view text) noexcept -> std::optional<std::uint64_t> {
  std::uint64_t number = 0;
  auto const [end, ec] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (ec != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

/// UUID-shaped, unique within one table, the same in every run.
inline auto uid_of_version(std::uint64_t version) -> shared_string {
  char text[40];
  auto const size = std::snprintf(text, sizeof text, "%08llx-%04llx-4000-8000-%012llx",
                                  static_cast<unsigned long long>(version >> 32 & 0xffffffff), 0ULL,
                                  static_cast<unsigned long long>(version & 0xffffffffffff));
  return shared_string{std::string_view{text, static_cast<std::size_t>(size)}};
}

AGONES_ALLOC_DECL auto object_table::create(game_server server, timestamp now) -> result<game_server_ptr> {
  if (server.meta.name.empty()) return error_code{errc::invalid_request};
  if (objects_.contains(object_key_view{server.meta})) return error_code{errc::conflict};
  sharing_.share_in(server);
  auto const version = ++version_;
  if (server.meta.uid.empty()) server.meta.uid = uid_of_version(version);
  if (server.meta.creation_timestamp == unset_time) server.meta.creation_timestamp = now;
  if (server.meta.generation == 0) server.meta.generation = 1;
  server.meta.resource_version = version_text(version);
  auto key = key_of(server.meta);
  auto const made = game_server_ptr{copy_of(std::move(server))};
  objects_.emplace(std::move(key), stored{made, version});
  remember(server_event::kind::added, made);
  return made;
}

AGONES_ALLOC_DECL auto object_table::update(game_server const& base, std::shared_ptr<game_server> desired, bool quiet)
    -> result<game_server_ptr> {
  auto const at = objects_.find(object_key_view{base.meta});
  if (at == objects_.end()) return error_code{errc::not_found};
  auto& entry = at->second;
  if (version_number(base.meta.resource_version) != entry.version) return error_code{errc::conflict};
  auto const version = ++version_;
  // What is stored, not base: a base put together by hand may have the right version and a wrong identity.
  auto const& was = *entry.server;
  auto& now = *desired;
  now.meta.name = was.meta.name;
  now.meta.namespace_ = was.meta.namespace_;
  now.meta.uid = was.meta.uid;
  now.meta.creation_timestamp = was.meta.creation_timestamp;
  now.meta.resource_version = version_text(version);
  // As the CRD without a status subresource: any change but that of labels and annotations counts (spec 4.2).
  auto const same = now.status.state == was.status.state && now.spec == was.spec && now.status == was.status;
  now.meta.generation = was.meta.generation + (same ? 0 : 1);
  auto relabelled = now.meta.labels == was.meta.labels ? nullptr : entry.server;
  entry = {std::move(desired), version};
  if (!quiet) remember(server_event::kind::modified, entry.server, std::move(relabelled));
  return entry.server;
}

AGONES_ALLOC_DECL auto object_table::remove(object_key const& key, std::string_view uid) -> result<game_server_ptr> {
  auto const at = objects_.find(key);
  if (at == objects_.end()) return error_code{errc::not_found};
  if (!uid.empty() && at->second.server->meta.uid != uid) return error_code{errc::conflict};
  auto last = *at->second.server;
  objects_.erase(at);
  last.meta.resource_version = version_text(++version_);
  auto const removed = std::make_shared<game_server const>(std::move(last));
  remember(server_event::kind::deleted, removed);
  return game_server_ptr{removed};
}

AGONES_ALLOC_DECL auto object_table::find(object_key const& key) const -> game_server_ptr {
  auto const at = objects_.find(key);
  return at == objects_.end() ? nullptr : at->second.server;
}

AGONES_ALLOC_DECL auto object_table::list() const -> server_list {
  server_list out;
  out.servers.reserve(objects_.size());
  for (auto const& [key, entry] : objects_) out.servers.push_back(entry.server);
  std::sort(out.servers.begin(), out.servers.end(), [](game_server_ptr const& a, game_server_ptr const& b) {
    return key_of(a->meta) < key_of(b->meta);
  });
  out.resource_version = version_text(version_).str();
  return out;
}

AGONES_ALLOC_DECL auto object_table::changes_after(std::uint64_t from, std::size_t most) const -> result<server_events> {
  auto first = first_after(from);
  if (!first) return error_code{errc::too_old};
  server_events out;
  auto last = from;
  for (auto at = *first; at != history_.end() && out.events.size() < most; ++at) {
    out.events.push_back(at->event);
    last = at->version;
  }
  out.resource_version = version_text(last).str();
  return out;
}

AGONES_ALLOC_DECL auto object_table::full_changes_after(std::uint64_t from, std::size_t most) const
    -> result<store_changes> {
  auto first = first_after(from);
  if (!first) return error_code{errc::too_old};
  store_changes out;
  auto last = from;
  for (auto at = *first; at != history_.end() && out.changes.size() < most; ++at) {
    out.changes.push_back({at->event, at->relabelled});
    last = at->version;
  }
  out.resource_version = version_text(last).str();
  return out;
}

inline auto object_table::first_after(std::uint64_t from) const -> std::optional<std::deque<change>::const_iterator> {
  if (from < forgotten_ || from > version_) return std::nullopt;
  return std::upper_bound(history_.begin(), history_.end(), from,
                          [](std::uint64_t version, change const& c) { return version < c.version; });
}

AGONES_ALLOC_DECL void object_table::forget_history() {
  history_.clear();
  forgotten_ = version_;
}

AGONES_ALLOC_DECL void object_table::remember(server_event::kind what, game_server_ptr server,
                                             game_server_ptr relabelled) {
  history_.push_back({version_, {what, std::move(server)}, std::move(relabelled)});
  while (history_.size() > limit_) {
    forgotten_ = history_.front().version;
    history_.pop_front();
  }
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
