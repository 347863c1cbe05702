# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# The elements on a machine with two GPUs, with nothing else on them.

part_gpus() {
    for folder in $CCL_GST; do
        gst=$(gst_of "$folder")
        for case in streams_spread neighbours illegal_access full_gpu speed; do
            check_in "$folder" "ccllabel-two-gpus: $case" 200 env GST_CHECKS="test_$case" "$folder/test-ccllabel-two-gpus"
        done
        sed -n '/frames\/s on one/s/^/noted: /p' "$log" >> "$found"
    done
    folder=${CCL_GST%% *}
    gst=$(gst_of "$folder")
    for cameras in 32 64; do
        for where in "one GPU: cuda-device-id=0" "two GPUs: cuda-device-id=-1"; do
            check_in "$folder" "$cameras cameras, ${where%%:*}" 60 \
                "$folder/many-cameras" "$cameras" 3 --memory=system --label="backend=cuda ${where#*: }"
        done
    done
}
