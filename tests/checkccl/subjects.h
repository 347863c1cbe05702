/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CHECKCCL_SUBJECTS_H
#define CHECKCCL_SUBJECTS_H

#include "options.h"

/* Allocates the session's subjects, and those for volumes, by the options. */
void choose_subjects(Session *session, const Options *options);

#endif
