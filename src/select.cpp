// Bodies of the compiled form. Written by tools/list_bodies.
#include <agones_alloc/impl/select/apply.ipp>
#include <agones_alloc/impl/select/claim.ipp>
#include <agones_alloc/impl/select/defaults.ipp>
#include <agones_alloc/impl/select/find.ipp>
#include <agones_alloc/impl/select/kubernetes_names.ipp>
#include <agones_alloc/impl/select/match.ipp>
#include <agones_alloc/impl/select/rank.ipp>
#include <agones_alloc/impl/select/request.ipp>
#include <agones_alloc/impl/select/request_digest.ipp>
#include <agones_alloc/impl/select/selector_text.ipp>
#include <agones_alloc/impl/select/validate.ipp>
