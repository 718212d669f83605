// Bodies of the compiled form. Written by tools/list_bodies.
#include <agones_alloc/impl/model/field_error.ipp>
#include <agones_alloc/impl/model/game_server.ipp>
#include <agones_alloc/impl/model/object_event.ipp>
#include <agones_alloc/impl/model/outcome.ipp>
