// Writers: model values to JSON text, exact to spec section 1.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/allocation.hpp>
#include <agones_alloc/model/fleet.hpp>
#include <agones_alloc/model/game_server.hpp>
#include <agones_alloc/model/policy.hpp>

#include <string>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Appends compact JSON without a trailing newline: keys in declaration order, omit rules, nulls and `{}` of spec 1.2
/// to 1.6. `kind` and `apiVersion` are always written, and always the type's own (Q1). Invalid UTF-8 becomes U+FFFD.
/// Texts kept as JSON (`spec`, ownerReferences, managedFields) are copied as they are. Thread safety: pure functions.
AGONES_ALLOC_DECL void append_json(std::string& out, game_server_allocation const&);
/// `.spec` is left out when "".
AGONES_ALLOC_DECL void append_json(std::string& out, game_server const&);
AGONES_ALLOC_DECL void append_json(std::string& out, game_server_allocation_policy const&);
/// The template is written from its `spec` text, not from the fields read out of it.
AGONES_ALLOC_DECL void append_json(std::string& out, fleet const&);

/// A document of its own.
template <class T>
auto to_json(T const& value) -> std::string {
  std::string out;
  append_json(out, value);
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/json/write_allocation.ipp>
#include <agones_alloc/impl/json/write_fleet.ipp>
#include <agones_alloc/impl/json/write_game_server.ipp>
#include <agones_alloc/impl/json/write_policy.ipp>
#endif
