// Precompiled for the areas with Asio.
#ifndef AGONES_ALLOC_TESTS_PCH_ASYNC  // not #pragma once: g++ warns about it in a precompiled main file
#define AGONES_ALLOC_TESTS_PCH_ASYNC
#include "core.hpp"

#include <boost/asio.hpp>
#include <boost/asio/any_completion_handler.hpp>

#endif
