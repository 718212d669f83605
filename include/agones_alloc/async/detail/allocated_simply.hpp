// A handler whose memory is a small block that is used again and again, unless it names another allocator.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/detail/small_blocks.hpp>

#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/bind_allocator.hpp>

#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Asio's default keeps two blocks of a thread for reuse, and asks for the others with an alignment, which is slow.
template <class Handler>
auto allocated_simply(Handler&& handler) {
  auto const allocator = boost::asio::get_associated_allocator(handler, small_block_allocator<void>{});
  return boost::asio::bind_allocator(allocator, std::forward<Handler>(handler));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
