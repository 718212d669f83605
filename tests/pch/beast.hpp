// Precompiled for the areas with Beast.
#ifndef AGONES_ALLOC_TESTS_PCH_BEAST  // not #pragma once: g++ warns about it in a precompiled main file
#define AGONES_ALLOC_TESTS_PCH_BEAST
#include "async.hpp"

#include <boost/asio/ssl.hpp>
#include <boost/beast.hpp>
#include <boost/json.hpp>

#endif
