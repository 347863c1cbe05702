/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* How many threads can run at once. */
#ifndef CCL_HOST_CPUS_H
#define CCL_HOST_CPUS_H

/* Number of CPUs that the calling thread may run on, or fewer where the process's control groups (containers, services)
 * limit its CPU time. At least 1. */
unsigned ccl_cpu_count(void);

/* Number of CPUs whose time the process's control groups may use, rounded up; 0: no limit. Tests give another `root` than
 * "" to read the files from. */
unsigned ccl_cpu_quota(const char *root);

#endif
