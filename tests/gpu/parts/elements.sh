# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# The elements with every GStreamer of $CCL_GST, and with the newest under memcheck.

# elements_in FOLDER
elements_in() {
    gst=$(gst_of "$1")
    data=${CCL_TEST_DATA:-$1/data}
    {
        check_in "$1" "real masks, gst-launch-1.0" 300 python3 "$top/tests/elements/ccllabel-data.py" "$data" cuda
        check_in "$1" "ccllabel-cuda" 300 "$1/test-ccllabel-cuda"
    } &
    for program in ccllabel-contours ccllabel-measures ccllabel-volume cclmotion; do
        check_in "$1" "$program" 300 "$1/test-$program"
    done &
    check_in "$1" "ccllabel" 600 "$1/test-ccllabel"
    wait
}

# In one process, and without the tests whose device fails on purpose.
elements_sanitized() {
    gst=$(gst_of "$1")
    for program in ccllabel-cuda ccllabel-contours ccllabel-volume cclmotion; do
        sanitize memcheck "$program, $gst" \
            "$(gst_settings "$1") CK_FORK=no CK_DEFAULT_TIMEOUT=0 GST_CHECKS_IGNORE=test_device_fails*" "$1/test-$program"
    done
}

part_elements() {
    export CCL_TEST_CROWDED=1
    for folder in $CCL_GST; do
        elements_in "$folder" &
    done
    elements_sanitized "$folder" &
    wait
}
