// From the vectors' JSON to model values and back, with the library's own readers and writers.
#pragma once

#include "runner.hpp"

#include <agones_alloc/model/allocation.hpp>
#include <agones_alloc/model/feature_gates.hpp>
#include <agones_alloc/model/field_error.hpp>
#include <agones_alloc/model/game_server.hpp>

#include <boost/json/array.hpp>

#include <string_view>

namespace conformance {

/// The gate set a case names ("default" where it names none).
auto gates_of(json::object const& input) -> agones_alloc::feature_gates;

/// Throw std::invalid_argument where the reader refuses: families where that may happen read for themselves.
auto read_allocation(json::value const&) -> agones_alloc::game_server_allocation;
auto read_server(json::value const&) -> agones_alloc::game_server;

/// What the writers print, as a value. Throws where that is no JSON.
auto parsed(std::string_view text) -> json::value;
auto written(agones_alloc::game_server_allocation const&) -> json::value;
auto written(agones_alloc::game_server const&) -> json::value;

/// `{type, field, detail, message}` of each.
auto written(agones_alloc::field_errors const&) -> json::array;
/// Sorted by message, for answers whose order is random in the reference.
void sort_by_message(json::array& errors);

/// A copy without the keys that vectors leave out: `kind`, `apiVersion`, or metadata's null creationTimestamp.
auto without_type(json::value) -> json::value;
auto without_null_creation(json::value) -> json::value;

/// True unless the key is absent or null.
auto has(json::object const&, std::string_view key) -> bool;
auto text_of(json::value const&) -> std::string_view;

}  // namespace conformance
