/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* How many threads can run at once. */
#ifndef CCL_HOST_CPUS_H
#define CCL_HOST_CPUS_H

/* CPUs the calling thread may run on, or fewer when the process's control groups (containers, services) may not use the
 * time of so many. At least 1. */
unsigned ccl_cpu_count(void);

/* CPUs whose time the control groups of this process may use, a part of one counted as one; 0: no limit. The files are
 * looked for below `root`: "" but for tests. */
unsigned ccl_cpu_quota(const char *root);

#endif
