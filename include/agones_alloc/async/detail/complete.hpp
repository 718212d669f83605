// Completes an erased handler where it wants to run.
#pragma once

#include <agones_alloc/config.hpp>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/append.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/dispatch.hpp>

#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// To be called on `own` only, never inside the initiating function. A handler that wants `own`, or has no
/// wish, runs here and now; any other is dispatched to its executor.
template <class... Signature, class... Results>
void complete(boost::asio::any_completion_executor const& own, boost::asio::any_completion_handler<Signature...> handler,
              Results&&... results) {
  auto const wanted = boost::asio::get_associated_executor(handler, own);
  if (wanted == own) {
    std::move(handler)(std::forward<Results>(results)...);
  } else {
    boost::asio::dispatch(wanted, boost::asio::append(std::move(handler), std::forward<Results>(results)...));
  }
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
