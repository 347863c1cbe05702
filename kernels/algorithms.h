/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_ALGORITHMS_H
#define CCL_ALGORITHMS_H

#include "backend.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const CclAlgorithm ccl_cpu_reference;
extern const CclAlgorithm ccl_cpu_runs;
extern const CclAlgorithm ccl_cpu_reference_3d;
extern const CclAlgorithm ccl_cpu_runs_3d;

extern const CclAlgorithm ccl_cuda_8dls;
extern const CclAlgorithm ccl_cuda_accl;
extern const CclAlgorithm ccl_cuda_bke;
extern const CclAlgorithm ccl_cuda_be_3d;
extern const CclAlgorithm ccl_cuda_bke_3d;
extern const CclAlgorithm ccl_cuda_buf_3d;
extern const CclAlgorithm ccl_cuda_uf_3d;
extern const CclAlgorithm ccl_cuda_be;
extern const CclAlgorithm ccl_cuda_bke_ic;
extern const CclAlgorithm ccl_cuda_bke_published;
extern const CclAlgorithm ccl_cuda_brb;
extern const CclAlgorithm ccl_cuda_buf;
extern const CclAlgorithm ccl_cuda_buf_ic;
extern const CclAlgorithm ccl_cuda_c2fl;
extern const CclAlgorithm ccl_cuda_c_bbdt;
extern const CclAlgorithm ccl_cuda_c_drag;
extern const CclAlgorithm ccl_cuda_c_sauf;
extern const CclAlgorithm ccl_cuda_cc2fl;
extern const CclAlgorithm ccl_cuda_dlp;
extern const CclAlgorithm ccl_cuda_dpl;
extern const CclAlgorithm ccl_cuda_flsl;
extern const CclAlgorithm ccl_cuda_ha4;
extern const CclAlgorithm ccl_cuda_ha4_64;
extern const CclAlgorithm ccl_cuda_ha4_sums;
extern const CclAlgorithm ccl_cuda_ha8;
extern const CclAlgorithm ccl_cuda_ha8_64;
extern const CclAlgorithm ccl_cuda_ha8_sums;
extern const CclAlgorithm ccl_cuda_ke;
extern const CclAlgorithm ccl_cuda_lbuf;
extern const CclAlgorithm ccl_cuda_le;
extern const CclAlgorithm ccl_cuda_le_early;
extern const CclAlgorithm ccl_cuda_le_late;
extern const CclAlgorithm ccl_cuda_lnp;
extern const CclAlgorithm ccl_cuda_m8dls;
extern const CclAlgorithm ccl_cuda_nc2fl;
extern const CclAlgorithm ccl_cuda_np;
extern const CclAlgorithm ccl_cuda_ole;
extern const CclAlgorithm ccl_cuda_playne;
extern const CclAlgorithm ccl_cuda_rasmusson;
extern const CclAlgorithm ccl_cuda_rc2fl;
extern const CclAlgorithm ccl_cuda_stava;
extern const CclAlgorithm ccl_cuda_stava_early;
extern const CclAlgorithm ccl_cuda_stava_late;
extern const CclAlgorithm ccl_cuda_runs;
extern const CclAlgorithm ccl_cuda_uf;

#ifdef __cplusplus
}
#endif

#endif
