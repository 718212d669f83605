#pragma once

#include <agones_alloc/beast/kubernetes/detail/adapted_handler.hpp>
#include <agones_alloc/beast/kubernetes/kubernetes_source.hpp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline auto server_event_kind(watch_event::kind what) noexcept -> server_event::kind {
  switch (what) {
    case watch_event::kind::added: return server_event::kind::added;
    case watch_event::kind::deleted: return server_event::kind::deleted;
    case watch_event::kind::modified:
    case watch_event::kind::bookmark:
    case watch_event::kind::error: break;
  }
  return server_event::kind::modified;
}

}  // namespace detail

AGONES_ALLOC_DECL kubernetes_source::kubernetes_source(boost::asio::any_io_executor executor, http_client& client,
                                                       timer& time, kubernetes_watch_options options)
    : watch_{std::move(executor), client, time, std::move(options)} {}

AGONES_ALLOC_DECL void kubernetes_source::do_list(list_handler done) {
  watch_.async_list(detail::adapted(std::move(done), +[](error_code ec, object_list<game_server> listed) {
    return std::pair{ec, server_list{std::move(listed.objects), std::move(listed.resource_version)}};
  }));
}

AGONES_ALLOC_DECL void kubernetes_source::do_watch(std::string from, watch_handler done) {
  auto const adapt = +[](error_code ec, watched_changes<game_server> heard) {
    server_events out;
    out.resource_version = std::move(heard.resource_version);
    out.events.reserve(heard.events.size());
    for (auto& event : heard.events) {
      out.events.push_back({detail::server_event_kind(event.what), std::move(event.object)});
    }
    return std::pair{ec, std::move(out)};
  };
  watch_.async_watch(std::move(from), detail::adapted(std::move(done), adapt));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
