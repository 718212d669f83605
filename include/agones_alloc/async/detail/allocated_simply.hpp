// A handler whose memory comes from the general allocator, unless it names another.
#pragma once

#include <agones_alloc/config.hpp>

#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/bind_allocator.hpp>

#include <memory>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Asio's default keeps two blocks of a thread for reuse, and asks for the others with an alignment, which is slow.
template <class Handler>
auto allocated_simply(Handler&& handler) {
  auto const allocator = boost::asio::get_associated_allocator(handler, std::allocator<void>{});
  return boost::asio::bind_allocator(allocator, std::forward<Handler>(handler));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
