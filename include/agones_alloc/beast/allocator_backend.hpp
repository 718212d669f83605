// The allocator behind the front ends.
#pragma once

#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/beast/allocation_backend.hpp>
#include <agones_alloc/config.hpp>

#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// The allocator must outlive it.
class allocator_backend final : public allocation_backend {
 public:
  explicit allocator_backend(allocator& a) noexcept : allocator_{&a} {}

  void allocate(call c, handler done) override {
    allocate_options options;
    options.deadline = c.deadline;
    options.request_id = c.terms.request_id;
    options.wait_for = c.terms.wait_for;
    options.claim_ttl = c.terms.claim_ttl;
    options.gate = gate_of(c.terms);
    if (c.dry_run) return allocator_->async_decide(std::move(c.request), options, std::move(done));
    allocator_->async_allocate(std::move(c.request), options, std::move(done));
  }

 private:
  allocator* allocator_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
