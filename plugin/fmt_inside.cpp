// SPDX-License-Identifier: GPL-2.0-or-later
// libfmt's functions inside spank_dlcast.so: its shared library would bring the shared C++ library into every sbatch,
// whose loading takes longer than all that the plugin does there.
#define FMT_STATIC_THOUSANDS_SEPARATOR ','  // no text of ours groups digits; std::locale is a megabyte to relocate
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {
template auto thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl(locale_ref) -> char;
}  // namespace detail
FMT_END_NAMESPACE
