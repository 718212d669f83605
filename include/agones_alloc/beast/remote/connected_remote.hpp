// Allocators in other clusters whose connections can be looked at.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/port/remote_allocator.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// An endpoint with connections, for people to look at.
struct remote_endpoint_state {
  std::string endpoint;
  std::string_view protocol{"rest"};  ///< a literal: rest, grpc
  std::string secret;       ///< namespace/name; "": none
  std::string server_name;  ///< "": the endpoint's host
  std::uint64_t credential_version{0};  ///< how many bundles were put to use; 0: none yet
  std::string problem;      ///< of its credentials; "": none
  std::size_t connections{0};
  std::uint64_t opened{0};  ///< connections, in all: TLS handshakes
  std::uint64_t resumed{0};  ///< of those, with an earlier one's session; of gRPC it is not known
  std::uint64_t sent{0};    ///< requests
};

/// A remote_allocator that keeps connections. Thread safety: any thread.
class connected_remote : public remote_allocator {
 public:
  /// Handler signature: void(std::vector<remote_endpoint_state>), by endpoint.
  template <class Token = boost::asio::deferred_t>
  auto async_endpoints(Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(std::vector<remote_endpoint_state>)>(
        [this](auto h) { tell_endpoints(endpoints_handler{std::move(h)}); }, token);
  }
  /// Closes every connection; what is pending ends as cancelled or unknown. For good.
  virtual void close() = 0;

 protected:
  using endpoints_handler = boost::asio::any_completion_handler<void(std::vector<remote_endpoint_state>)>;

 private:
  virtual void tell_endpoints(endpoints_handler) = 0;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
