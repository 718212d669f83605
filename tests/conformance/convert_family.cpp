// convert: the service's proto-JSON to and from GameServerAllocation, and states to codes.
#include "runner.hpp"
#include "wire.hpp"

#include <agones_alloc/json/grpc_code.hpp>
#include <agones_alloc/json/rest.hpp>
#include <agones_alloc/select/defaults.hpp>
#include <agones_alloc/select/validate.hpp>

#include <string>
#include <utility>

namespace conformance {
namespace {

namespace aa = agones_alloc;

// The vectors print the reference's Go objects, which have no type before they go on the wire.
auto as_object(aa::game_server_allocation const& gsa) -> json::value {
  return without_type(without_null_creation(written(gsa)));
}

void request_to_gsa(json::object const& input, report& results) {
  auto const gates = gates_of(input);
  auto gsa = aa::rest_request_to_allocation(input.at("request"), gates);
  results.expect("decodeError", input.contains("decodeError"), gsa.has_error());
  if (!gsa || input.contains("decodeError")) return;
  results.expect("gsa", input.at("gsa"), as_object(*gsa));
  apply_defaults(*gsa, gates);
  results.expect("defaulted", input.at("defaulted"), as_object(*gsa));
  auto theirs = input.at("errors").as_array();
  auto ours = written(validate(*gsa, gates));
  sort_by_message(theirs);
  sort_by_message(ours);
  results.expect("errors", std::move(theirs), std::move(ours));
}

void gsa_to_response(json::object const& input, report& results) {
  auto const gates = gates_of(input);
  auto const response = parsed(aa::allocation_to_rest_response(read_allocation(input.at("gsa")), gates));
  results.expect("response", input.at("response"), response);
  auto const source = text_of(input.at("backSource"));
  auto const back = aa::rest_response_to_allocation(input.at("response"), source, gates);
  if (!back) return results.fail("backToGSA", to_string(back.error()));
  results.expect("backToGSA", input.at("backToGSA"), without_null_creation(written(*back)));
}

void gsa_to_request(json::object const& input, report& results) {
  auto const gates = gates_of(input);
  auto gsa = read_allocation(input.at("gsa"));
  apply_defaults(gsa, gates);
  convert_deprecated(gsa.spec);
  auto const request = aa::allocation_to_rest_request(gsa, gates);
  if (request) return results.expect("request", input.at("request"), parsed(*request));
  auto const& error = request.error();
  results.expect("request", input.at("request"),
                 {{"unsupported", error.fault == aa::decode_fault::unsupported}, {"field", error.field}});
}

void state_to_code(json::object const& input, report& results) {
  auto const unallocated = static_cast<aa::grpc_code>(input.at("unallocatedCode").to_number<int>());
  auto const status = aa::grpc_status_of_state(text_of(input.at("state")), unallocated);
  results.expect("code", input.at("code"), static_cast<int>(status.code));
  results.expect("codeName", input.at("codeName"), json::string{aa::to_string(status.code)});
  if (auto const* message = input.if_contains("message"))
    results.expect("message", *message, json::string{status.message});
  if (auto const* http = input.if_contains("httpStatus"))
    results.expect("httpStatus", *http, aa::http_status_of(status.code));
  if (auto const* response = input.if_contains("response");
      response != nullptr && !input.at("responseIsNull").as_bool()) {
    aa::game_server_allocation gsa;
    gsa.status.state = text_of(input.at("state"));
    results.expect("response", *response, parsed(aa::allocation_to_rest_response(gsa)));
  }
}

void run_convert(json::object const& input, report& results) {
  auto const kind = text_of(input.at("kind"));
  if (kind == "requestToGSA") return request_to_gsa(input, results);
  if (kind == "gsaToResponse") return gsa_to_response(input, results);
  if (kind == "gsaToRequest") return gsa_to_request(input, results);
  if (kind == "state") return state_to_code(input, results);
  results.fail("kind", "unknown kind " + std::string{kind});
}

registration const convert{"convert", &run_convert};

}  // namespace
}  // namespace conformance
