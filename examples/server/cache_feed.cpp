#include "cache_feed.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>

#include <chrono>
#include <utility>

namespace agones_alloc_server {

using namespace agones_alloc;

struct cache_feed::state : std::enable_shared_from_this<cache_feed::state> {
  state(boost::asio::any_io_executor e, server_source& s, ready_cache& c, timer& t, logger& l)
      : executor{std::move(e)}, source{s}, cache{c}, time{t}, log{l} {}

  template <class Handler>
  auto here(Handler handler) {
    return boost::asio::bind_cancellation_slot(
        stopping.slot(), boost::asio::bind_executor(executor, [self = shared_from_this(), handler](auto&&... arguments) {
          if (!self->stopped) handler(*self, std::forward<decltype(arguments)>(arguments)...);
        }));
  }

  void list() {
    source.async_list(here([](state& self, error_code ec, server_list listed) {
      if (ec) return self.later(ec);
      self.cache.replace_all(listed.servers);
      self.synced = true;
      self.watch(std::move(listed.resource_version));
    }));
  }

  void watch(std::string from) {
    source.async_watch(std::move(from), here([](state& self, error_code ec, server_events news) {
                         if (ec == errc::too_old) return self.list();
                         if (ec) return self.later(ec);
                         for (auto& event : news.events) self.take(event);
                         self.watch(std::move(news.resource_version));
                       }));
  }

  void take(server_event& event) {
    switch (event.what) {
      case server_event::kind::added:
      case server_event::kind::modified: cache.store(std::move(event.server)); break;
      case server_event::kind::deleted: cache.erase(key_of(event.server->meta), event.server->meta.uid); break;
    }
  }

  void later(error_code ec) {
    log.log(severity::warning, "the watch of game servers ended; it is begun again in a second", {{"error", ec.message()}});
    time.async_wait_until(time.now() + std::chrono::seconds{1}, here([](state& self, error_code) { self.list(); }));
  }

  boost::asio::any_io_executor executor;
  server_source& source;
  ready_cache& cache;
  timer& time;
  logger& log;
  boost::asio::cancellation_signal stopping;
  bool synced{false};
  bool stopped{false};
};

cache_feed::cache_feed(boost::asio::any_io_executor executor, server_source& source, ready_cache& cache, timer& time, logger& log)
    : state_{std::make_shared<state>(std::move(executor), source, cache, time, log)} {}

cache_feed::~cache_feed() { stop(); }

void cache_feed::start() { state_->list(); }

void cache_feed::stop() {
  state_->stopped = true;
  state_->stopping.emit(boost::asio::cancellation_type::terminal);
}

auto cache_feed::synced() const noexcept -> bool { return state_->synced; }

}  // namespace agones_alloc_server
