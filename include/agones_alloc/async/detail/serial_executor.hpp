// Where what must not run at once runs.
#pragma once

#include <agones_alloc/config.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/strand.hpp>

#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// `executor`, where it is known to run one handler at a time; else a strand of it. A strand costs some allocations and a turn of the
/// loop for each way into it, socket operations included.
inline auto serial_executor(boost::asio::any_io_executor executor, bool is_serial) -> boost::asio::any_io_executor {
  if (is_serial) return executor;
  return boost::asio::make_strand(std::move(executor));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
