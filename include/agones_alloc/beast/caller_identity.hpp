// Who asks.
#pragma once

#include <agones_alloc/config.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// How it is known who asks.
enum class identity_source : std::uint8_t {
  anonymous,    ///< it is not
  front_proxy,  ///< a front proxy has said so, which has shown its certificate
  certificate,  ///< the caller's own certificate
  token,        ///< the API server says whose bearer token it is
};

/// Users, groups and further attributes, as Kubernetes has them.
struct caller_identity {
  identity_source source{identity_source::anonymous};
  std::string user;                 ///< "" for anonymous
  std::string uid;
  std::vector<std::string> groups;
  std::vector<std::pair<std::string, std::string>> extra;  ///< key in lower case, decoded; one entry a value
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
