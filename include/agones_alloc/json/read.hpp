// Readers: boost::json::value to model values (spec section 1).
#pragma once

#include <agones_alloc/json/read_allocation.hpp>
#include <agones_alloc/json/read_fleet.hpp>
#include <agones_alloc/json/read_game_server.hpp>
#include <agones_alloc/json/read_policy.hpp>
