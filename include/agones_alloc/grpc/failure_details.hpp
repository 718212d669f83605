// What a failed call says besides code and message.
#pragma once

#include <agones_alloc/beast/allocation_service.hpp>
#include <agones_alloc/config.hpp>

#include <string>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// A google.rpc.Status in bytes, for `grpc-status-details-bin`: with a google.rpc.BadRequest for fields that are wrong, a
/// google.rpc.RetryInfo where it helps to come again, and an agones_alloc.failure.AllocationFailure (proto/) with outcome,
/// breakdown and attempts. At most about 6 KiB, since clients refuse more than 8 KiB of metadata: what is beyond is left out.
/// "" for success, and where there is nothing to add.
AGONES_ALLOC_DECL auto failure_details(service_answer const&) -> std::string;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/grpc/failure_details.ipp>
#endif
