// Precompiled for the areas with JSON and without Asio.
#ifndef AGONES_ALLOC_TESTS_PCH_JSON  // not #pragma once: g++ warns about it in a precompiled main file
#define AGONES_ALLOC_TESTS_PCH_JSON
#include "core.hpp"

#include <boost/json.hpp>

#endif
