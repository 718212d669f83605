// ExecCredential: what a credential plugin is told, and what it prints.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/decode_error.hpp>
#include <agones_alloc/model/meta.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct exec_credential {
  std::string token;            ///< "": none
  std::string certificate_pem;  ///< with `key_pem`; "": none
  std::string key_pem;
  std::optional<timestamp> expires;  ///< none: as long as the process lives
};

/// What a plugin printed. `api_version` is the one it was asked for; another is refused, and so is a credential with
/// neither token nor certificate, a certificate without its key, a token with control characters, and an expiry that
/// is no time. Messages never quote the text. Pure.
AGONES_ALLOC_DECL auto read_exec_credential(std::string_view text, std::string_view api_version)
    -> decoded<exec_credential>;

/// The cluster that a plugin may be told about.
struct exec_cluster {
  std::string server;  ///< URL
  std::string tls_server_name;
  std::string ca_pem;
  bool insecure_skip_tls_verify{false};
};

/// The text of KUBERNETES_EXEC_INFO; never interactive. `cluster` null: it is not told.
AGONES_ALLOC_DECL auto write_exec_info(std::string_view api_version, exec_cluster const* cluster) -> std::string;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/json/exec_credential.ipp>
#endif
