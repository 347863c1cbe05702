/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* CCL_EMULATE, and the random numbers. */
#include "emulate.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace emulate {

namespace {

Settings parse()
{
    Settings s;
    const char *text = getenv("CCL_EMULATE");
    const std::string all = text ? text : "";
    for (size_t at = 0; at < all.size();) {
        const size_t end = std::min(all.find(',', at), all.size()), equals = all.find('=', at);
        const std::string name = all.substr(at, std::min(equals, end) - at);
        const uint64_t value = equals < end ? strtoull(all.c_str() + equals + 1, nullptr, 0) : 1;
        if (name == "seed")
            s.seed = value ? value : 0;
        else if (name == "blocks")
            s.blocks = (unsigned)std::max<uint64_t>(1, std::min<uint64_t>(value, 16));
        else if (name == "burst")
            s.burst = (unsigned)value;
        else if (name == "races")
            s.races = value;
        else if (name == "fail")
            s.fail = value;
        else if (name == "seconds")
            s.seconds = (unsigned)value;
        else if (name == "summary")
            s.summary = value;
        else if (name == "devices")
            s.devices = (unsigned)std::max<uint64_t>(1, std::min<uint64_t>(value, MAX_DEVICES));
        else if (name == "blocking")
            s.blocking = value;
        else {
            fprintf(stderr,
                    "emulation: CCL_EMULATE has no \"%s\"; there are seed, blocks, burst, races, fail, "
                    "seconds, summary, devices, blocking\n",
                    name.c_str());
            exit(2);
        }
        at = end + 1;
    }
    if (!s.seed)
        s.blocks = 1, s.burst = 0;
    return s;
}

} // namespace

const Settings &settings()
{
    static const Settings s = parse();
    return s;
}

uint64_t random_bits()
{
    static uint64_t state = settings().seed * 0x9e3779b97f4a7c15 + 1;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545f4914f6cdd1d >> 11;
}

} // namespace emulate
