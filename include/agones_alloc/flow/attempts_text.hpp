// What was tried over several clusters, for people.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/outcome.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// `this cluster: exhausted, 0 ms; east at 10.0.0.1:443: unavailable, 12 ms (connection refused)`, in the order of the
/// attempts. Messages are cut after 200 bytes; after about 1000 bytes in all it ends with `; and more`.
inline auto attempts_text(std::vector<attempt> const& attempts) -> std::string {
  constexpr std::size_t most_bytes = 1000;
  constexpr std::size_t most_of_message = 200;
  std::string out;
  for (auto const& one : attempts) {
    if (out.size() > most_bytes) return out + "; and more";
    if (!out.empty()) out += "; ";
    out += one.cluster.empty() ? "this cluster" : one.cluster;
    if (!one.endpoint.empty()) out.append(" at ").append(one.endpoint);
    out.append(": ").append(to_string(one.result)).append(", ");
    out.append(std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(one.took).count())).append(" ms");
    if (!one.message.empty()) out.append(" (").append(one.message, 0, most_of_message).append(")");
  }
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
