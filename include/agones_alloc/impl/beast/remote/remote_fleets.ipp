#pragma once

#include <agones_alloc/beast/remote/detail/fleet_upstream.hpp>
#include <agones_alloc/beast/remote/remote_fleets.hpp>
#include <agones_alloc/flow/connection_iterator.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

/// Each cluster once, by its first policy; clusters with endpoints that were named already are those under another name.
inline auto upstream_places(std::vector<game_server_allocation_policy> const& policies, std::string_view local)
    -> std::vector<upstream_place> {
  std::map<std::string, std::vector<game_server_allocation_policy>> spaces;
  for (auto const& policy : policies) spaces[policy.meta.namespace_.str()].push_back(policy);
  std::vector<upstream_place> out;
  std::set<std::string> names{std::string{local}};
  std::set<std::vector<std::string>> known;
  for (auto const& [space, members] : spaces) {
    connection_iterator const clusters{members};
    for (auto const& group : clusters.groups()) {
      for (auto const& cluster : group.clusters) {
        auto const& to = cluster.connection;
        if (to.allocation_endpoints.empty() || names.contains(cluster.identity)) continue;
        upstream_place place;
        place.cluster = cluster.identity;
        for (auto const& endpoint : to.allocation_endpoints) place.endpoints.push_back(endpoint.str());
        if (!known.insert(place.endpoints).second) continue;
        names.insert(cluster.identity);
        place.server_name = cluster.server_name.str();
        place.credentials = {shared_string{space}, to.secret_name, to.server_ca};
        out.push_back(std::move(place));
      }
    }
  }
  return out;
}

/// Follows the policies.
class remote_fleets_core : public std::enable_shared_from_this<remote_fleets_core> {
 public:
  remote_fleets_core(boost::asio::any_io_executor executor, fleet_directory& directory, policy_source const& policies,
                     secret_source* secrets, timer& time, random_source& random, remote_fleets_options options)
      : strand_{boost::asio::make_strand(std::move(executor))},
        context_{std::make_shared<upstream_context>(
            upstream_context{boost::asio::any_io_executor{strand_}, directory, time, random, std::move(options), {secrets, time}})},
        policies_{policies} {}

  void start() {
    boost::asio::post(strand_, [self = shared_from_this()] {
      if (!std::exchange(self->started_, true) && !self->stopped_) self->look();
    });
  }

  void stop() {
    boost::asio::post(strand_, [self = shared_from_this()] {
      self->stopped_ = true;
      self->looking_.emit(boost::asio::cancellation_type::terminal);
      for (auto const& [name, one] : self->upstreams_) one->stop();
      self->upstreams_.clear();
    });
  }

 private:
  void look() {
    if (auto now = policies_.policies(); now != seen_) {
      seen_ = std::move(now);
      follow(upstream_places(*seen_, context_->directory.cluster()));
    }
    context_->time.async_wait_until(
        context_->time.now() + context_->options.look_every,
        boost::asio::bind_cancellation_slot(
            looking_.slot(), boost::asio::bind_executor(strand_, [self = shared_from_this()](error_code ec) {
              if (!ec && !self->stopped_) self->look();
            })));
  }

  void follow(std::vector<upstream_place> wanted) {
    auto const& options = context_->options;
    if (wanted.size() > options.clusters) {
      if (options.log != nullptr) options.log->log(severity::warning, "policies name more clusters than are listened to", {});
      wanted.resize(options.clusters);
    }
    for (auto at = upstreams_.begin(); at != upstreams_.end();) {
      auto const is_it = [&](upstream_place const& place) { return place == at->second->place(); };
      if (std::any_of(wanted.begin(), wanted.end(), is_it)) {
        ++at;
        continue;
      }
      at->second->stop();
      auto const still = [&](upstream_place const& place) { return place.cluster == at->first; };
      if (std::none_of(wanted.begin(), wanted.end(), still)) context_->directory.remove_cluster(at->first);
      at = upstreams_.erase(at);
    }
    for (auto& place : wanted) {
      auto& one = upstreams_[place.cluster];
      if (one != nullptr) continue;
      one = std::make_shared<fleet_upstream>(context_, std::move(place));
      one->start();
    }
  }

  boost::asio::strand<boost::asio::any_io_executor> strand_;
  std::shared_ptr<upstream_context> context_;
  policy_source const& policies_;
  policies_ptr seen_;
  std::map<std::string, std::shared_ptr<fleet_upstream>> upstreams_;
  boost::asio::cancellation_signal looking_;
  bool started_{false};
  bool stopped_{false};
};

}  // namespace detail

AGONES_ALLOC_DECL remote_fleets::remote_fleets(boost::asio::any_io_executor executor, fleet_directory& directory,
                                               policy_source const& policies, secret_source* secrets, timer& time,
                                               random_source& random, remote_fleets_options options) {
  check(options.retry, "remote_fleets_options.retry");
  auto const bad = [](std::chrono::nanoseconds t) { return t.count() <= 0 || t > std::chrono::hours{24}; };
  if (bad(options.unserved_retry)) throw std::invalid_argument{"remote_fleets_options.unserved_retry is out of range"};
  if (bad(options.look_every)) throw std::invalid_argument{"remote_fleets_options.look_every is out of range"};
  if (bad(options.connect_time)) throw std::invalid_argument{"remote_fleets_options.connect_time is out of range"};
  if (bad(options.silence)) throw std::invalid_argument{"remote_fleets_options.silence is out of range"};
  if (options.event_bytes < 1024) throw std::invalid_argument{"remote_fleets_options.event_bytes is out of range"};
  core_ = std::make_shared<detail::remote_fleets_core>(std::move(executor), directory, policies, secrets, time, random,
                                                       std::move(options));
}

AGONES_ALLOC_DECL remote_fleets::~remote_fleets() { core_->stop(); }
AGONES_ALLOC_DECL void remote_fleets::start() { core_->start(); }
AGONES_ALLOC_DECL void remote_fleets::stop() { core_->stop(); }

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
