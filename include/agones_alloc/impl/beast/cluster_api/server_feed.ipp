#pragma once

#include <agones_alloc/beast/cluster_api/server_feed.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>

#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL auto server_feed::kind() const noexcept -> api_kind const& {
  static auto const words = api_kind{"GameServer", "gameservers", "gameserver", "gs", game_server_columns()};
  return words;
}

AGONES_ALLOC_DECL auto server_feed::list() -> feed_list {
  auto all = store_->list();
  feed_list out;
  out.objects.reserve(all.servers.size());
  for (auto& server : all.servers) out.objects.emplace_back(std::move(server));
  out.resource_version = std::move(all.resource_version);
  return out;
}

AGONES_ALLOC_DECL auto server_feed::find(object_key const& key) -> std::optional<api_object> {
  auto found = store_->find(key);
  if (!found) return std::nullopt;
  return api_object{std::move(found)};
}

AGONES_ALLOC_DECL auto server_feed::changes_after(std::string_view resource_version, std::size_t most)
    -> result<feed_changes> {
  auto heard = store_->changes_after(resource_version, most);
  if (!heard) return heard.error();
  feed_changes out;
  out.changes.reserve(heard->changes.size());
  for (auto& [event, relabelled] : heard->changes) {
    auto before = relabelled ? std::optional{relabelled->meta.labels} : std::nullopt;
    out.changes.push_back({event.what, std::move(event.server), std::move(before)});
  }
  out.resource_version = std::move(heard->resource_version);
  return out;
}

AGONES_ALLOC_DECL void server_feed::wait(std::string resource_version, waiter done) {
  auto const slot = boost::asio::get_associated_cancellation_slot(done);
  auto const executor = boost::asio::get_associated_executor(done);
  auto then = [done = std::move(done)](error_code ec, server_events const&) mutable {
    std::move(done)(ec == errc::too_old ? error_code{} : ec);  // whoever asks for the changes is told
  };
  store_->async_watch(std::move(resource_version),
                      boost::asio::bind_cancellation_slot(slot, boost::asio::bind_executor(executor, std::move(then))));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
