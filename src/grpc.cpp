// Bodies of the compiled form. Written by tools/list_bodies.
#include <agones_alloc/impl/grpc/allocation_front_end.ipp>
#include <agones_alloc/impl/grpc/failure_details.ipp>
#include <agones_alloc/impl/grpc/grpc_answer.ipp>
#include <agones_alloc/impl/grpc/grpc_call.ipp>
#include <agones_alloc/impl/grpc/grpc_fleet_feeds.ipp>
#include <agones_alloc/impl/grpc/grpc_listener.ipp>
#include <agones_alloc/impl/grpc/grpc_remote_allocator.ipp>
#include <agones_alloc/impl/grpc/health_probe.ipp>
#include <agones_alloc/impl/grpc/information_fleets.ipp>
#include <agones_alloc/impl/grpc/information_front_end.ipp>
#include <agones_alloc/impl/grpc/information_messages.ipp>
#include <agones_alloc/impl/grpc/messages_request.ipp>
#include <agones_alloc/impl/grpc/messages_response.ipp>
