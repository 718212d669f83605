// Bodies of the compiled form. Written by tools/list_bodies.
#include <agones_alloc/impl/embedded/durations.ipp>
#include <agones_alloc/impl/embedded/fleet_settings.ipp>
