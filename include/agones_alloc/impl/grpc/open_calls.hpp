// Calls that are under way.
#pragma once

#include <agones_alloc/config.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Each is kept until gRPC has told of its end, and close() waits for the ends of all. Thread safety: any thread.
template <class Call>
class open_calls {
 public:
  /// False: it is closed, and the call must not begin.
  auto enter(std::shared_ptr<Call> call) -> bool {
    std::lock_guard const lock{mutex_};
    if (closed_) return false;
    ++under_way_;
    auto const* const of = call.get();
    open_.emplace(of, std::move(call));
    return true;
  }

  // On a thread of gRPC's, which must not be who forgets the call: with the last channel gRPC waits for its threads. Nor is the
  // executor kept beyond the end: whoever waits for that may destroy its context.
  /// The call has ended: `then(call)` is called on the executor.
  template <class Then>
  void leave(Call const* of, boost::asio::any_io_executor executor, Then then) {
    std::shared_ptr<Call> call;
    {
      std::lock_guard const lock{mutex_};
      auto const at = open_.find(of);
      call = std::move(at->second);
      open_.erase(at);
    }
    boost::asio::post(std::exchange(executor, {}), [call = std::move(call), then = std::move(then)] { then(*call); });
    std::lock_guard const lock{mutex_};
    if (--under_way_ == 0) emptied_.notify_all();  // under the lock: afterwards this may be gone
  }

  /// Calls `cut(call)` for every one, and waits until gRPC has told of their ends.
  template <class Cut>
  void close(Cut cut) {
    std::vector<std::shared_ptr<Call>> all;
    {
      std::lock_guard const lock{mutex_};
      closed_ = true;
      for (auto const& [key, call] : open_) all.push_back(call);
    }
    for (auto const& call : all) cut(*call);  // not under the lock: it may end here and now
    std::unique_lock lock{mutex_};
    emptied_.wait(lock, [this] { return under_way_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable emptied_;
  std::unordered_map<Call const*, std::shared_ptr<Call>> open_;
  std::size_t under_way_{0};
  bool closed_{false};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
