# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# The motion detector against the plain one, and under compute-sanitizer.

part_motion() {
    check "checkmotion, feedback" 300 "$checkmotion" cuda 60 feedback &
    check "checkmotion, other methods" 300 "$checkmotion" cuda 300 others &
    {
        sanitize memcheck "motion" "" "$checkmotion" cuda 9
        sanitize racecheck "motion" "" "$checkmotion" cuda 9
    } &
    wait
}
