// Bodies of the compiled form. Written by tools/list_bodies.
#include <agones_alloc/impl/json/base64.ipp>
#include <agones_alloc/impl/json/decode_error.ipp>
#include <agones_alloc/impl/json/parse.ipp>
#include <agones_alloc/impl/json/quantity.ipp>
#include <agones_alloc/impl/json/read_allocation.ipp>
#include <agones_alloc/impl/json/read_fleet.ipp>
#include <agones_alloc/impl/json/read_game_server.ipp>
#include <agones_alloc/impl/json/read_policy.ipp>
#include <agones_alloc/impl/json/time.ipp>
#include <agones_alloc/impl/json/write_allocation.ipp>
#include <agones_alloc/impl/json/write_fleet.ipp>
#include <agones_alloc/impl/json/write_game_server.ipp>
#include <agones_alloc/impl/json/write_policy.ipp>
