#pragma once

#include <agones_alloc/async/detail/complete.hpp>
#include <agones_alloc/async/merged_source.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL auto join_versions(std::vector<std::string> const& versions) -> std::string {
  std::string out;
  for (auto const& one : versions) out += (out.empty() ? "" : ",") + std::to_string(one.size()) + ':' + one;
  return out;
}

AGONES_ALLOC_DECL auto split_versions(std::string_view text) -> std::optional<std::vector<std::string>> {
  std::vector<std::string> out;
  while (true) {
    std::size_t size = 0;
    auto const [stopped, fault] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (fault != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(stopped - text.data()));
    if (text.empty() || text.front() != ':' || size > text.size() - 1) return std::nullopt;
    out.emplace_back(text.substr(1, size));
    text.remove_prefix(1 + size);
    if (text.empty()) return out;
    if (text.front() != ',') return std::nullopt;
    text.remove_prefix(1);
  }
}

namespace detail {

// Confined to its strand, but for the number of the last call.
class merged_core : public std::enable_shared_from_this<merged_core> {
  struct answer {
    error_code ec;
    server_events heard;
  };
  struct part {
    server_source* source;
    std::string version;  ///< where its watch that waits, or its answer, began
    std::shared_ptr<boost::asio::cancellation_signal> pending;  ///< of what it does now; null: nothing
    server_list listed;
    std::optional<answer> ready;
    std::string next;  ///< where its watch goes on
    bool failed{false};  ///< its last watch
  };

  // Answers of what was given up meanwhile are ignored: the part has another signal then, or none.
  template <class Answer, class F>
  auto back(part& one, F f) {
    auto const index = static_cast<std::size_t>(&one - parts_.data());
    return boost::asio::bind_cancellation_slot(
        one.pending->slot(),
        boost::asio::bind_executor(strand_, [self = shared_from_this(), index, mine = one.pending,
                                             f](error_code ec, Answer found) {
          auto& of = self->parts_[index];
          if (of.pending != mine) return;
          of.pending = nullptr;
          f(*self, of, ec, std::move(found));
        }));
  }

 public:
  using list_handler = server_source::list_handler;
  using watch_handler = server_source::watch_handler;

  merged_core(boost::asio::any_io_executor executor, std::vector<server_source*> const& sources)
      : strand_{boost::asio::make_strand(std::move(executor))}, own_{boost::asio::any_io_executor{strand_}} {
    for (auto* const source : sources) parts_.push_back({source, {}, nullptr, {}, {}, {}, false});
  }

  void list(list_handler done) {
    admit<server_list>(std::move(done), [](merged_core& self, list_handler handler) {
      self.list_done_.emplace(std::move(handler));
      self.drop_answers();
      self.unlisted_ = self.parts_.size();
      for (auto& one : self.parts_) {
        one.pending = std::make_shared<boost::asio::cancellation_signal>();
        auto take = [](merged_core& core, part& of, error_code ec, server_list found) {
          if (ec) return core.finish_list(ec);
          of.listed = std::move(found);
          if (--core.unlisted_ == 0) core.finish_list({});
        };
        one.source->async_list(self.back<server_list>(one, take));
      }
    });
  }

  void watch(std::string from, watch_handler done) {
    admit<server_events>(std::move(done), [from = std::move(from)](merged_core& self, watch_handler handler) {
      self.watch_done_.emplace(std::move(handler));
      auto const versions = split_versions(from);
      if (!versions || versions->size() != self.parts_.size()) return self.finish_watch(errc::too_old, {});
      for (std::size_t i = 0; i < versions->size(); ++i) self.go_on(self.parts_[i], (*versions)[i]);
      self.hand_out();
    });
  }

  void stop() {
    boost::asio::post(strand_, [self = shared_from_this()] {
      self->stopped_ = true;
      self->cancel();
      self->drop_answers();
    });
  }

 private:
  template <class Answer, class Handler, class Start>
  void admit(Handler done, Start start) {
    auto const id = ++last_call_;
    auto slot = boost::asio::get_associated_cancellation_slot(done);
    if (slot.is_connected()) {
      slot.assign([weak = weak_from_this(), id](boost::asio::cancellation_type type) {
        auto const self = weak.lock();
        if (self == nullptr || type == boost::asio::cancellation_type::none) return;
        boost::asio::post(self->strand_, [self, id] {
          if (self->running_ == id) self->cancel();
        });
      });
    }
    boost::asio::post(strand_, [self = shared_from_this(), id, start = std::move(start),
                                h = std::move(done)]() mutable {
      if (self->stopped_ || self->list_done_ || self->watch_done_) {
        return complete(self->own_, std::move(h), error_code{self->stopped_ ? errc::cancelled : errc::invalid_request},
                        Answer{});
      }
      self->running_ = id;
      start(*self, std::move(h));
    });
  }

  void go_on(part& one, std::string const& version) {
    if (one.version == version && (one.pending || one.ready)) return;
    give_up(one);
    one.version = one.next = version;
    one.pending = std::make_shared<boost::asio::cancellation_signal>();
    auto take = [](merged_core& self, part& of, error_code ec, server_events heard) {
      of.ready = answer{ec, std::move(heard)};
      self.hand_out();
    };
    one.source->async_watch(version, back<server_events>(one, take));
  }

  // Events first: an error of one source must not keep the others' back.
  void hand_out() {
    if (!watch_done_) return;
    server_events heard;
    error_code ec;
    bool again = false;
    for (auto& one : parts_) {
      if (!one.ready) continue;
      bool const failed = std::exchange(one.failed, bool{one.ready->ec});
      if (one.ready->ec) {
        ec = one.ready->ec;
        continue;
      }
      again = again || failed;
      one.next = std::move(one.ready->heard.resource_version);
      std::move(one.ready->heard.events.begin(), one.ready->heard.events.end(), std::back_inserter(heard.events));
      one.ready.reset();
    }
    heard.whole = std::none_of(parts_.begin(), parts_.end(), [](part const& one) { return one.failed; });
    if (!heard.events.empty() || (again && heard.whole)) return finish_watch({}, std::move(heard));
    if (!ec) {
      // Whoever answered without events goes on.
      for (auto& one : parts_) {
        if (!one.pending && !one.ready) go_on(one, std::string{one.next});
      }
      return;
    }
    for (auto& one : parts_) {
      if (one.ready && one.ready->ec == errc::too_old) ec = errc::too_old;
      one.ready.reset();
    }
    finish_watch(ec, {});
  }

  void finish_watch(error_code ec, server_events heard) {
    if (!ec) {
      std::vector<std::string> versions;
      for (auto const& one : parts_) versions.push_back(one.next);
      heard.resource_version = join_versions(versions);
    }
    auto done = std::move(*watch_done_);
    watch_done_.reset();
    complete(own_, std::move(done), ec, std::move(heard));
  }

  void finish_list(error_code ec) {
    server_list all;
    std::vector<std::string> versions;
    for (auto& one : parts_) {
      if (ec) give_up(one);
      one.failed = false;
      std::move(one.listed.servers.begin(), one.listed.servers.end(), std::back_inserter(all.servers));
      versions.push_back(std::move(one.listed.resource_version));
      one.listed = {};
    }
    if (ec) all.servers.clear();
    all.resource_version = join_versions(versions);
    auto done = std::move(*list_done_);
    list_done_.reset();
    complete(own_, std::move(done), ec, std::move(all));
  }

  // A watch that was cancelled goes on where it was: its parts may keep waiting.
  void cancel() {
    if (list_done_) finish_list(errc::cancelled);
    if (watch_done_) finish_watch(errc::cancelled, {});
  }

  void give_up(part& one) {
    one.ready.reset();
    if (auto const signal = std::exchange(one.pending, nullptr)) signal->emit(boost::asio::cancellation_type::terminal);
  }
  void drop_answers() {
    for (auto& one : parts_) give_up(one);
  }

  boost::asio::strand<boost::asio::any_io_executor> strand_;
  boost::asio::any_completion_executor own_;
  std::vector<part> parts_;
  std::optional<list_handler> list_done_;
  std::optional<watch_handler> watch_done_;
  std::size_t unlisted_{0};
  std::uint64_t running_{0};
  std::atomic<std::uint64_t> last_call_{0};
  bool stopped_{false};
};

}  // namespace detail

AGONES_ALLOC_DECL merged_source::merged_source(boost::asio::any_io_executor executor,
                                               std::vector<server_source*> sources) {
  if (sources.empty()) throw std::invalid_argument{"merged_source: sources: at least one is needed"};
  if (std::find(sources.begin(), sources.end(), nullptr) != sources.end()) {
    throw std::invalid_argument{"merged_source: sources: must not be null"};
  }
  core_ = std::make_shared<detail::merged_core>(std::move(executor), sources);
}

AGONES_ALLOC_DECL merged_source::~merged_source() { core_->stop(); }
AGONES_ALLOC_DECL void merged_source::do_list(list_handler done) { core_->list(std::move(done)); }
AGONES_ALLOC_DECL void merged_source::do_watch(std::string from, watch_handler done) {
  core_->watch(std::move(from), std::move(done));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
