/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include "checkccl.h"

void check_api(Session *session)
{
    (void)session;
}
