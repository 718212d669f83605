// Secrets as folders, a file for each key: as Kubernetes mounts them.
#pragma once

#include <agones_alloc/beast/remote/secret_source.hpp>
#include <agones_alloc/config.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <filesystem>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// The Secret `name` of `namespace` is the folder ROOT/namespace/name, or else ROOT/name. Its plain files are the keys, at
/// most 32 of 1 MiB each, which are read whole; that blocks for as long as it takes. A name that could lead out of
/// the root is not found.
class folder_secrets final : public secret_source {
 public:
  folder_secrets(boost::asio::any_io_executor executor, std::filesystem::path root)
      : executor_{std::move(executor)}, root_{std::move(root)} {}

 private:
  AGONES_ALLOC_DECL void do_get(std::string namespace_, std::string name, handler) override;

  boost::asio::any_io_executor executor_;
  std::filesystem::path root_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/remote/folder_secrets.ipp>
#endif
