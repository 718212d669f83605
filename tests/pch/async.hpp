// Precompiled for the areas with Asio.
#ifndef AGONES_ALLOC_TESTS_PCH_ASYNC
#define AGONES_ALLOC_TESTS_PCH_ASYNC
#include "core.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#endif
