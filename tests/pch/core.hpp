// Precompiled for the areas without Asio. Standard and third-party headers only: the library's own
// headers must keep naming what they need.
#ifndef AGONES_ALLOC_TESTS_PCH_CORE  // not #pragma once: g++ warns about it in a precompiled main file
#define AGONES_ALLOC_TESTS_PCH_CORE
#include <doctest/doctest.h>

#include <boost/container/flat_map.hpp>
#include <boost/system/result.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#endif
