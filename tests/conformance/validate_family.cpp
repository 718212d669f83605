// validate: decoding, defaults, validation, the Status of a refusal, conversion of deprecated fields.
#include "runner.hpp"
#include "wire.hpp"

#include <agones_alloc/json/read_allocation.hpp>
#include <agones_alloc/json/status.hpp>
#include <agones_alloc/select/defaults.hpp>
#include <agones_alloc/select/validate.hpp>

#include <utility>

namespace conformance {
namespace {

void run_validate(json::object const& input, report& results) {
  auto const gates = gates_of(input);
  auto read = agones_alloc::read_game_server_allocation(input.at("gsa"));
  // The words of a decoder are its own: only the fact is compared.
  results.expect("decodeError", input.contains("decodeError"), read.has_error());
  if (!read || input.contains("decodeError")) return;
  auto& gsa = *read;
  apply_defaults(gsa, gates);
  results.expect("defaulted", input.at("defaulted"), without_null_creation(written(gsa)));
  auto const errors = validate(gsa, gates);
  auto ours = written(errors);
  auto const ordered = input.at("errorsOrdered").as_bool();
  if (!ordered) sort_by_message(ours);
  results.expect("errors", input.at("errors"), std::move(ours));
  if (auto const* status = input.if_contains("status")) {
    results.expect("status", *status, parsed(agones_alloc::invalid_status(gsa.meta.name, errors)));
  }
  if (auto const* code = input.if_contains("statusCode")) {
    results.expect("statusCode", *code, parsed(agones_alloc::invalid_status(gsa.meta.name, errors)).at("code"));
  }
  if (auto const* converted = input.if_contains("converted")) {
    convert_deprecated(gsa.spec);
    results.expect("converted", *converted, written(gsa).at("spec").at("selectors"));
  }
}

registration const validate_family{"validate", &run_validate};

}  // namespace
}  // namespace conformance
