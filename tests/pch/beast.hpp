// Precompiled for the areas with Beast.
#ifndef AGONES_ALLOC_TESTS_PCH_BEAST
#define AGONES_ALLOC_TESTS_PCH_BEAST
#include "core.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/json.hpp>

#endif
