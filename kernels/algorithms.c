/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The table of all methods. The `algorithm` property, the tests, the benchmark and the documents are made from it. A new method
 * needs a file under label/, a line here, in algorithms.h and in meson.build. The best method of each backend comes first. The
 * published methods are for comparison: -Dpublished=disabled leaves them out. */
#include "algorithms.h"

const CclAlgorithm *const ccl_algorithms[] = {
    &ccl_cpu_runs,
    &ccl_cpu_reference,
    &ccl_cpu_runs_3d,
    &ccl_cpu_reference_3d,
#ifdef CCL_HAVE_CUDA
    &ccl_cuda_runs,
    &ccl_cuda_bke,
    &ccl_cuda_ha4,
    &ccl_cuda_ha4_64,
    &ccl_cuda_ha4_sums,
    &ccl_cuda_ha8,
    &ccl_cuda_ha8_64,
    &ccl_cuda_ha8_sums,
    &ccl_cuda_uf,
    &ccl_cuda_bke_3d,
    &ccl_cuda_uf_3d,
#ifdef CCL_HAVE_PUBLISHED
    &ccl_cuda_8dls,
    &ccl_cuda_accl,
    &ccl_cuda_be,
    &ccl_cuda_bke_ic,
    &ccl_cuda_bke_published,
    &ccl_cuda_brb,
    &ccl_cuda_buf,
    &ccl_cuda_buf_ic,
    &ccl_cuda_c2fl,
    &ccl_cuda_c_bbdt,
    &ccl_cuda_c_drag,
    &ccl_cuda_c_sauf,
    &ccl_cuda_cc2fl,
    &ccl_cuda_dlp,
    &ccl_cuda_dpl,
    &ccl_cuda_flsl,
    &ccl_cuda_ke,
    &ccl_cuda_lbuf,
    &ccl_cuda_le,
    &ccl_cuda_le_early,
    &ccl_cuda_le_late,
    &ccl_cuda_lnp,
    &ccl_cuda_m8dls,
    &ccl_cuda_nc2fl,
    &ccl_cuda_np,
    &ccl_cuda_ole,
    &ccl_cuda_playne,
    &ccl_cuda_rasmusson,
    &ccl_cuda_rc2fl,
    &ccl_cuda_stava,
    &ccl_cuda_stava_early,
    &ccl_cuda_stava_late,
    &ccl_cuda_be_3d,
    &ccl_cuda_buf_3d,
#endif
#endif
    NULL,
};
