#pragma once

#include <agones_alloc/cache/ranked_index.hpp>
