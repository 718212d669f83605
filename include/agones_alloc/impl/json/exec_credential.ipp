#pragma once

#include <agones_alloc/json/base64.hpp>
#include <agones_alloc/json/detail/read_members.hpp>
#include <agones_alloc/json/detail/type_check.hpp>
#include <agones_alloc/json/exec_credential.hpp>
#include <agones_alloc/json/parse.hpp>
#include <agones_alloc/json/time.hpp>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail::wire {

struct exec_credential_status {
  std::string_view token;
  std::string_view certificate;
  std::string_view key;
  std::string_view expires;
};
inline void read_value(reader& in, place const& at, boost::json::value const& value, exec_credential_status& out) {
  read_members(in, at, value, field{"token", out.token}, field{"clientCertificateData", out.certificate},
               field{"clientKeyData", out.key}, field{"expirationTimestamp", out.expires});
}

inline auto refuse_credential(std::string field, std::string message) -> decode_error {
  return {decode_fault::type, std::move(field), std::move(message), 0, 0, 0};
}

}  // namespace detail::wire

AGONES_ALLOC_DECL auto read_exec_credential(std::string_view text, std::string_view api_version)
    -> decoded<exec_credential> {
  namespace wire = detail::wire;
  auto const parsed = parse_json(text);
  if (!parsed) return parsed.error();
  if (auto wrong = wire::wrong_type(*parsed, "ExecCredential", {api_version})) return *std::move(wrong);
  json_read_options const options{};
  auto const status = wire::run_reader<wire::exec_credential_status>(
      options, [&](wire::reader& in, wire::place const& at, wire::exec_credential_status& out) {
        wire::read_members(in, at, *parsed, wire::field{"status", out});
      });
  if (!status) return status.error();
  exec_credential out{std::string{status->token}, std::string{status->certificate}, std::string{status->key}, {}};
  auto const spoils = [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; };
  if (std::any_of(out.token.begin(), out.token.end(), spoils)) {
    return wire::refuse_credential("status.token", "holds a control character");
  }
  if (out.certificate_pem.empty() != out.key_pem.empty()) {
    return wire::refuse_credential("status", "needs both clientCertificateData and clientKeyData");
  }
  if (out.token.empty() && out.certificate_pem.empty()) {
    return wire::refuse_credential("status", "holds neither a token nor a certificate");
  }
  if (!status->expires.empty()) {
    out.expires = parse_time(status->expires);
    if (!out.expires) return wire::refuse_credential("status.expirationTimestamp", "is no time");
  }
  return out;
}

AGONES_ALLOC_DECL auto write_exec_info(std::string_view api_version, exec_cluster const* cluster) -> std::string {
  auto const text = [](std::string_view what) { return boost::json::string_view{what.data(), what.size()}; };
  boost::json::object spec{{"interactive", false}};
  if (cluster != nullptr) {
    boost::json::object told{{"server", text(cluster->server)}};
    if (!cluster->tls_server_name.empty()) told["tls-server-name"] = text(cluster->tls_server_name);
    if (cluster->insecure_skip_tls_verify) told["insecure-skip-tls-verify"] = true;
    if (!cluster->ca_pem.empty()) told["certificate-authority-data"] = text(encode_base64(cluster->ca_pem));
    spec["cluster"] = std::move(told);
  }
  boost::json::object const out{
      {"apiVersion", text(api_version)}, {"kind", "ExecCredential"}, {"spec", std::move(spec)}};
  return boost::json::serialize(out);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
