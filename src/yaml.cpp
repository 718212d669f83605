// Bodies of the compiled form. Written by tools/list_bodies.
#include <agones_alloc/impl/yaml/document.ipp>
#include <agones_alloc/impl/yaml/document_builder.ipp>
#include <agones_alloc/impl/yaml/document_values.ipp>
#include <agones_alloc/impl/yaml/kubeconfig.ipp>
#include <agones_alloc/impl/yaml/kubeconfig_entry.ipp>
#include <agones_alloc/impl/yaml/kubeconfig_files.ipp>
#include <agones_alloc/impl/yaml/manifest_checks.ipp>
#include <agones_alloc/impl/yaml/manifest_files.ipp>
#include <agones_alloc/impl/yaml/manifest_reader.ipp>
#include <agones_alloc/impl/yaml/manifests.ipp>
#include <agones_alloc/impl/yaml/scalar.ipp>
#include <agones_alloc/impl/yaml/source_lines.ipp>
#include <agones_alloc/impl/yaml/text_check.ipp>
#include <agones_alloc/impl/yaml/write.ipp>
