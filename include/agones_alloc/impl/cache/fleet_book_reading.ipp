#pragma once

#include <agones_alloc/cache/fleet_book.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

inline auto fleet_book::info_of(row const& of, wall_time wall) const -> fleet_info_ptr const& {
  if (of.info != nullptr || of.cluster != nullptr) return of.info;
  fleet_info made;
  if (of.told != nullptr) {
    made = *of.told;
  } else {
    made.cluster = of.key.cluster;
    made.namespace_ = of.key.namespace_;
    made.name = of.key.name;
    if (of.object != nullptr) {
      auto const& fleet = *of.object;
      made.uid = fleet.meta.uid;
      made.resource_version = fleet.meta.resource_version;
      made.generation = fleet.meta.generation;
      made.labels = fleet.meta.labels;
      made.annotations = fleet.meta.annotations;
      made.scheduling = fleet.scheduling;
      made.desired = fleet.replicas;
      made.status = fleet.status;
    }
    made.recount = of.counts.recount();
    made.observed = wall;
  }
  auto const at = clusters_.find({of.key.cluster, {}, {}});
  made.stale = made.stale || (at != clusters_.end() && at->second->cluster->stale);
  of.info = std::make_shared<fleet_info const>(std::move(made));
  return of.info;
}

inline auto fleet_book::labels_of(row const& of) noexcept -> string_map const& {
  static string_map const none;
  if (of.told != nullptr) return of.told->labels;
  return of.object != nullptr ? of.object->meta.labels : none;
}

inline auto fleet_book::wants(fleet_filter const& filter, row const& of) const -> bool {
  if (of.cluster != nullptr) {
    return (filter.cluster.empty() || filter.cluster == of.key.cluster.view()) &&
           (!filter.local_only || of.key.cluster == local_);
  }
  return admits(filter, of.key, local_) && matches_labels(filter.labels, labels_of(of));
}

AGONES_ALLOC_DECL auto fleet_book::page(fleet_filter const& filter, std::optional<fleet_key> const& after, std::size_t limit,
                                        wall_time wall) const -> fleet_page {
  fleet_page out;
  out.revision = revision_;
  auto const mix = [&out](std::uint64_t edit) {
    out.digest = (out.digest ^ edit) * 0x9e3779b97f4a7c15ULL;
    out.digest ^= out.digest >> 29;
  };
  for (auto const& [key, one] : clusters_) {
    if (!wants(filter, *one)) continue;
    out.clusters.push_back(one->cluster);
    mix(one->edit);
  }
  for (auto at = after ? rows_.upper_bound(*after) : rows_.begin(); at != rows_.end(); ++at) {
    if (!wants(filter, *at->second)) continue;
    if (out.fleets.size() == limit) {
      out.more = true;
      break;
    }
    out.fleets.push_back(info_of(*at->second, wall));
    mix(at->second->edit);
  }
  mix(out.fleets.size());
  return out;
}

// Clusters first: who reads the fleets knows then which of them are stale.
inline auto fleet_book::list_some(fleet_cursor& cursor, fleet_filter const& filter, std::size_t limit, wall_time wall,
                                  std::vector<fleet_event>& out) const -> bool {
  if (cursor.at == fleet_cursor::phase::fresh) {
    if (cursor.reset) out.push_back({fleet_event_kind::reset, nullptr, nullptr, 0});
    cursor = {fleet_cursor::phase::listing, false, std::nullopt, revision_, 0};
    for (auto const& [key, one] : clusters_) {
      if (wants(filter, *one)) out.push_back({fleet_event_kind::cluster_status, nullptr, one->cluster, 0});
    }
  }
  std::size_t told = 0;
  auto at = cursor.after ? rows_.upper_bound(*cursor.after) : rows_.begin();
  for (; at != rows_.end() && told < limit; ++at) {
    if (!wants(filter, *at->second)) continue;
    out.push_back({fleet_event_kind::snapshot_item, info_of(*at->second, wall), nullptr, 0});
    ++told;
  }
  if (at != rows_.end()) {
    cursor.after = std::prev(at)->first;
    return true;
  }
  out.push_back({fleet_event_kind::synced, nullptr, nullptr, cursor.base});
  cursor = {fleet_cursor::phase::following, false, std::nullopt, 0, cursor.base};
  return cursor.seen < revision_;
}

inline auto fleet_book::tell(row const& of, fleet_cursor const& cursor, fleet_filter const& filter, wall_time wall) const
    -> std::optional<fleet_event> {
  if (of.cluster != nullptr) {
    if (!wants(filter, of)) return std::nullopt;
    return fleet_event{of.gone ? fleet_event_kind::cluster_gone : fleet_event_kind::cluster_status, nullptr, of.cluster,
                       of.revision};
  }
  if (!admits(filter, of.key, local_)) return std::nullopt;
  bool const matches = matches_labels(filter.labels, labels_of(of));
  // Its labels may have been others when it was told: who does not know it loses nothing by hearing that it is gone.
  if (!matches && of.relabelled <= cursor.seen) return std::nullopt;
  if (!matches || of.gone) return fleet_event{fleet_event_kind::deleted, info_of(of, wall), nullptr, of.revision};
  return fleet_event{of.created > cursor.seen ? fleet_event_kind::added : fleet_event_kind::modified, info_of(of, wall),
                     nullptr, of.revision};
}

AGONES_ALLOC_DECL auto fleet_book::next(fleet_cursor& cursor, fleet_filter const& filter, std::size_t limit, wall_time wall,
                                        std::vector<fleet_event>& out) const -> bool {
  if (cursor.at == fleet_cursor::phase::following && !remembers(cursor.seen)) {
    cursor = {};
    cursor.reset = true;
  }
  if (cursor.at != fleet_cursor::phase::following) return list_some(cursor, filter, limit, wall, out);
  auto at = changes_.end();
  while (at != changes_.begin() && std::prev(at)->revision > cursor.seen) --at;
  std::size_t told = 0;
  for (; at != changes_.end(); ++at) {
    if (told == limit) return true;
    if (auto event = tell(*at, cursor, filter, wall)) {
      out.push_back(*std::move(event));
      ++told;
    }
    cursor.seen = at->revision;
  }
  return false;
}

AGONES_ALLOC_DECL auto fleet_book::servers(std::string_view ns, std::string_view fleet, std::string_view after,
                                           std::size_t limit, bool& more) const -> std::vector<game_server_ptr> {
  std::vector<game_server_ptr const*> found;
  row const* wanted = nullptr;
  more = false;
  if (!fleet.empty()) {
    auto const at = rows_.find({local_, shared_string{ns}, shared_string{fleet}});
    if (at == rows_.end()) return {};
    wanted = at->second.get();
  }
  for (auto const& known : servers_) {
    if (wanted != nullptr ? known.of != wanted : known.server->meta.namespace_ != ns) continue;
    if (known.server->meta.name.view() > after) found.push_back(&known.server);
  }
  auto const by_name = [](game_server_ptr const* a, game_server_ptr const* b) { return (*a)->meta.name < (*b)->meta.name; };
  more = found.size() > limit;
  auto const end = found.begin() + static_cast<std::ptrdiff_t>(std::min(limit, found.size()));
  std::partial_sort(found.begin(), end, found.end(), by_name);
  std::vector<game_server_ptr> out;
  out.reserve(limit < found.size() ? limit : found.size());
  for (auto at = found.begin(); at != end; ++at) out.push_back(**at);
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
