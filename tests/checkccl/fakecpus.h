/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Another number of CPUs, with a limit of control groups, for what is called meanwhile. */
#ifndef FAKECPUS_H
#define FAKECPUS_H

#include <stdbool.h>

/* `cpu_max`: what the file of that name says. No other thread may use the library during these calls. */
bool fake_cpus(unsigned n_cpus, const char *cpu_max);
void real_cpus(void);

#endif
