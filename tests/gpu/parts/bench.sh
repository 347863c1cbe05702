# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# The benchmark, on some kinds of images, with nothing else on the device.

part_bench() {
    check "benchmark" 300 "$checkccl" --backend=cuda --bench --rounds=5 --algorithm=$ours \
        --kinds=video_salt0.05,noise_g1_d50,noise_g4_d50,noise_g16_d50,white,checkerboard,comb,spiral
    # The figures that README.md quotes; the log keeps the whole output.
    grep -E '^ +cuda (null|runs 8|bke 8) +(table|labels\+table) +(gpu_cold|lane_cold|latency|packed_latency) ' "$log" |
        head -n 14 | sed 's/^ */figure: /' >> "$found"
}
