// apply: what an allocation writes to a server.
#include "runner.hpp"
#include "wire.hpp"

#include <agones_alloc/select/apply.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace conformance {
namespace {

namespace aa = agones_alloc;

auto sorted(std::vector<std::string> lines) -> json::array {
  std::sort(lines.begin(), lines.end());
  return json::array(lines.begin(), lines.end());
}

void run_apply(json::object const& input, report& results) {
  auto const gsa = read_allocation(input.at("gsa"));
  auto server = read_server(input.at("gameServer"));
  std::chrono::sys_time<std::chrono::nanoseconds> const now{std::chrono::milliseconds{1'764'400'000'250}};
  auto const errors = apply_allocation(server, gsa.spec, gates_of(input), now);
  auto const stamp = server.meta.annotations.value_or_empty(aa::keys::last_allocated_annotation);
  results.expect("last-allocated", "2025-11-29T07:06:40.25Z", json::string{stamp});
  server.meta.annotations.erase(aa::keys::last_allocated_annotation);
  auto const ours = without_null_creation(written(server));
  results.expect("metadata", input.at("result").at("metadata"), ours.at("metadata"));
  results.expect("status", input.at("result").at("status"), ours.at("status"));
  results.expect("counterErrors", input.at("counterErrors"), sorted(errors.counter_errors));
  results.expect("listErrors", input.at("listErrors"), sorted(errors.list_errors));
}

registration const apply_family{"apply", &run_apply};

}  // namespace
}  // namespace conformance
