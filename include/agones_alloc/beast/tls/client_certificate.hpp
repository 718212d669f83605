// Who the client of a TLS connection is, as its certificate says.
#pragma once

#include <agones_alloc/config.hpp>

#include <string>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// A certificate that was verified when the connection was made: its chain, validity and use as a client's.
struct client_certificate {
  std::string common_name;                 ///< CN of the subject; "" for none
  std::vector<std::string> organizations;  ///< O of the subject, each
  std::vector<std::string> dns_names;      ///< subject alternative names, by kind
  std::vector<std::string> emails;
  std::vector<std::string> uris;
  std::vector<std::string> addresses;      ///< as text: 10.0.0.1, 2001:db8::1
  bool by_client_authority{false};         ///< issued by an authority of tls_server_options::client_authorities
  bool by_front_proxy{false};              ///< issued by the front proxy's authority: may speak for others (Q18)
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
