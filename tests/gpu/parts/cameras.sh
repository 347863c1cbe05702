# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# The elements with nothing else on the device: its memory before and after, sixteen cameras.

part_cameras() {
    for folder in $CCL_GST; do
        gst=$(gst_of "$folder")
        check_in "$folder" "device memory: ccllabel-cuda" 100 env CK_RUN_CASE=memory "$folder/test-ccllabel-cuda"
    done
    folder=${CCL_GST%% *}
    gst=$(gst_of "$folder")
    for memory in system pinned cuda; do
        check_in "$folder" "16 cameras, masks in $memory memory" 60 \
            "$folder/many-cameras" 16 3 --memory=$memory --label=backend=cuda
    done
}
