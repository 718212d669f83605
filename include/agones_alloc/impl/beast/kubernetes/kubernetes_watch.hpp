#pragma once

#include <agones_alloc/beast/kubernetes/detail/feed_context.hpp>
#include <agones_alloc/beast/kubernetes/detail/open_watch.hpp>
#include <agones_alloc/beast/kubernetes/detail/paged_list.hpp>
#include <agones_alloc/beast/kubernetes/detail/streamed_list.hpp>
#include <agones_alloc/beast/kubernetes/kubernetes_watch.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/post.hpp>

#include <atomic>
#include <cstdint>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

// Each includes this file by way of kubernetes_watch.hpp: whoever includes one of them first has not seen the others here.
template <class Kind>
class open_watch;
template <class Kind>
class paged_list;
template <class Kind>
class streamed_list;

/// Brings calls to the strand, one at a time.
template <class Kind>
class watch_core : public std::enable_shared_from_this<watch_core<Kind>> {
 public:
  using object = typename Kind::object;

  explicit watch_core(std::shared_ptr<feed_context> context)
      : context_{std::move(context)}, watch_{std::make_shared<open_watch<Kind>>(context_)} {}

  void list(typename kubernetes_watch<Kind>::list_handler done) {
    admit<object_list<object>>(std::move(done), [](watch_core& self, auto handler) {
      self.watch_->forget();
      self.context_->options->stream_list && !self.unserved_ ? self.stream(std::move(handler))
                                                             : self.list_pages(std::move(handler));
    });
  }

  void watch(std::string from, typename kubernetes_watch<Kind>::watch_handler done) {
    admit<watched_changes<object>>(std::move(done), [from = std::move(from)](watch_core& self, auto handler) mutable {
      self.watch_->start(std::move(from), std::move(handler));
    });
  }

  void stop() {
    boost::asio::post(context_->strand, [self = this->shared_from_this()] {
      self->stopped_ = true;
      self->cancel();
      self->watch_->forget();
    });
  }

 private:
  using list_handler = typename kubernetes_watch<Kind>::list_handler;

  void list_pages(list_handler done) {
    auto const made = std::make_shared<paged_list<Kind>>(context_, std::move(done));
    list_ = made;
    made->start();
  }
  void stream(list_handler done) {
    auto const made = std::make_shared<streamed_list<Kind>>(
        context_, std::move(done), [weak = this->weak_from_this()](list_handler taken) {
          auto const self = weak.lock();
          if (self == nullptr) return;
          self->unserved_ = true;
          self->list_pages(std::move(taken));
        });
    list_ = made;
    made->start();
  }

  template <class Answer, class Handler, class Start>
  void admit(Handler done, Start start) {
    auto const id = ++last_call_;
    auto slot = boost::asio::get_associated_cancellation_slot(done);
    if (slot.is_connected()) {
      slot.assign([weak = this->weak_from_this(), id](boost::asio::cancellation_type type) {
        auto const self = weak.lock();
        if (self == nullptr || type == boost::asio::cancellation_type::none) return;
        boost::asio::post(self->context_->strand, [self, id] {
          if (self->running_ == id) self->cancel();
        });
      });
    }
    boost::asio::post(context_->strand, [self = this->shared_from_this(), id, start = std::move(start),
                                         h = std::move(done)]() mutable {
      if (self->stopped_ || self->busy()) {
        return complete(self->context_->own, std::move(h),
                        error_code{self->stopped_ ? errc::cancelled : errc::invalid_request}, Answer{});
      }
      self->running_ = id;
      start(*self, std::move(h));
    });
  }

  auto busy() const noexcept -> bool { return watch_->waiting() || (list_ != nullptr && !list_->over()); }
  void cancel() {
    if (list_ != nullptr) list_->cancel();
    watch_->cancel();
  }

  std::shared_ptr<feed_context> context_;
  std::shared_ptr<open_watch<Kind>> watch_;
  std::shared_ptr<running_list> list_;
  std::uint64_t running_{0};
  std::atomic<std::uint64_t> last_call_{0};
  bool stopped_{false};
  bool unserved_{false};  ///< the API server refuses streamed lists
};

}  // namespace detail

template <class Kind>
kubernetes_watch<Kind>::kubernetes_watch(boost::asio::any_io_executor executor, http_client& client, timer& time,
                                         kubernetes_watch_options options) {
  check(options);
  options.keep_spec = options.keep_spec || Kind::needs_spec;
  core_ = std::make_shared<detail::watch_core<Kind>>(
      std::make_shared<detail::feed_context>(std::move(executor), client, time, Kind::resource, options));
}

template <class Kind>
kubernetes_watch<Kind>::~kubernetes_watch() {
  core_->stop();
}

template <class Kind>
void kubernetes_watch<Kind>::list(list_handler done) {
  core_->list(std::move(done));
}

template <class Kind>
void kubernetes_watch<Kind>::watch(std::string resource_version, watch_handler done) {
  core_->watch(std::move(resource_version), std::move(done));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
