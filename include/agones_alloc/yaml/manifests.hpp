// Agones manifests as people have them: Fleets, GameServers and GameServerAllocationPolicies from YAML.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/fleet.hpp>
#include <agones_alloc/model/game_server.hpp>
#include <agones_alloc/model/policy.hpp>
#include <agones_alloc/yaml/document.hpp>
#include <agones_alloc/yaml/problem.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {
namespace yaml {

struct manifest_options {
  limits text{};
  std::string default_namespace{"default"};    ///< of objects that name none
  std::int32_t max_replicas{100'000};          ///< of one Fleet
  std::int64_t max_total_replicas{1'000'000};  ///< of all Fleets, single GameServers counted too
  std::size_t max_problems{50};                ///< reading stops there
  std::size_t max_notes{200};
};

/// A text with the name it goes by in problems.
struct manifest_text {
  std::string file;
  std::string text;
};

struct game_server_manifest {
  game_server server;          ///< as written; state `unset` when it has no status
  game_server_template shape;  ///< its ports, counters and lists, read out of the spec
  friend auto operator==(game_server_manifest const&, game_server_manifest const&) -> bool = default;
};

/// Where an object stands, for those who find something wrong with it later.
struct manifest_place {
  std::string file;
  std::string prefix;  ///< of its fields: "", or `items[3]` in a List
  std::size_t line{0};
  std::size_t name_line{0};
  std::size_t replicas_line{0};  ///< of spec.replicas, as far as it exists

  /// Of metadata.name and spec.replicas with their own line, of other fields with the object's.
  AGONES_ALLOC_DECL auto problem_at(std::string_view field, std::string message) const -> problem;
  friend auto operator==(manifest_place const&, manifest_place const&) -> bool = default;
};

/// Either objects, or problems and no objects.
struct manifests {
  std::vector<fleet> fleets;
  std::vector<game_server_manifest> game_servers;
  std::vector<game_server_allocation_policy> policies;
  // One for each of these, in their order.
  std::vector<manifest_place> fleet_places;
  std::vector<manifest_place> game_server_places;
  std::vector<manifest_place> policy_places;
  problems notes;   ///< what was left out, and what is kept without being simulated; also on failure
  problems errors;  ///< every problem found, in the order of the text
  auto ok() const noexcept -> bool { return errors.empty(); }
};

/// Reads Fleet and GameServer (agones.dev/v1), GameServerAllocationPolicy (multicluster.agones.dev/v1 and v1alpha1) and
/// `List` of these from multi-document YAML or JSON. A manifest with its whole pod template loads unchanged: its spec
/// is kept as JSON text, and only what is simulated is looked into. Other kinds, fields no version of a type has, and
/// fields that are kept but not simulated are named in `notes`.
///
/// Refused with file, line and field: what `parse` refuses, values of the wrong type, names and namespaces that are no
/// DNS names, bad resource quantities, replicas that are negative or over the options' bounds, ports, protocols,
/// policies, priorities, counters, lists and `agones-alloc.dev/` annotations with values they cannot have, and two
/// objects of one kind, namespace and name (both places are named). Does no I/O; thread-safe; throws std::bad_alloc
/// only.
AGONES_ALLOC_DECL auto load(std::vector<manifest_text> const& texts, manifest_options const& options = {}) -> manifests;
AGONES_ALLOC_DECL auto load(std::string_view text, std::string_view file, manifest_options const& options = {})
    -> manifests;

}  // namespace yaml
}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/yaml/manifests.ipp>
#endif
