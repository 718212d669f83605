// A source of game servers that a test answers by hand.
#pragma once

#include <agones_alloc/port/server_source.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <doctest/doctest.h>

#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace test_support {

using namespace agones_alloc;

/// Every call must be one that can be withdrawn.
class scripted_source final : public server_source {
 public:
  std::optional<list_handler> listing;
  std::optional<watch_handler> watching;
  std::deque<std::string> watched_from;
  int withdrawn{0};

  void give_list(error_code ec, std::string version, std::vector<game_server_ptr> servers = {}) {
    auto done = std::move(*listing);
    listing.reset();
    std::move(done)(ec, server_list{std::move(servers), std::move(version)});
  }
  void give_events(error_code ec, std::string version, std::vector<server_event> events = {}, bool whole = true) {
    auto done = std::move(*watching);
    watching.reset();
    std::move(done)(ec, server_events{std::move(events), std::move(version), whole});
  }

 private:
  void do_list(list_handler done) override {
    cancels(done);
    listing.emplace(std::move(done));
  }
  void do_watch(std::string from, watch_handler done) override {
    cancels(done);
    watched_from.push_back(std::move(from));
    watching.emplace(std::move(done));
  }
  template <class Handler>
  void cancels(Handler const& done) {
    auto slot = boost::asio::get_associated_cancellation_slot(done);
    REQUIRE(slot.is_connected());
    slot.assign([this](boost::asio::cancellation_type) {
      ++withdrawn;
      listing.reset();
      watching.reset();
    });
  }
};

}  // namespace test_support
