/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reports, and the places in the source that they name. */
#include "emulate.h"
#include "launch.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <string>
#include <unistd.h>

namespace emulate {

namespace {

constexpr unsigned MAX_PRINTED = 30;
unsigned n_reports;
bool forgiven;

/* ---------------------------------------------------------------- places in code */

/* Output of `addr2line -i`: a pair of lines, function and file:line, for the address and each function that it is inlined
 * in. */
std::string lines_of(const void *code)
{
    Dl_info info;
    char path[4096], command[4400], line[4096];
    std::string lines;
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n < 0 || !dladdr(code, &info))
        return lines;
    path[n] = 0;
    /* The address of the call, before the return address. */
    snprintf(command, sizeof command, "addr2line -Cfie '%s' %#lx 2>/dev/null", path,
             (unsigned long)((const char *)code - (const char *)info.dli_fbase - 1));
    FILE *const pipe = popen(command, "r");
    if (!pipe)
        return lines;
    while (fgets(line, sizeof line, pipe))
        lines += line;
    pclose(pipe);
    return lines;
}

/* Whether a comment in the line, or in the line before, says that the race is intended. */
bool is_racy(const std::string &file, unsigned number)
{
    FILE *const source = fopen(file.c_str(), "r");
    char line[1000];
    bool racy = false;
    for (unsigned i = 1; source && i <= number && fgets(line, sizeof line, source); i++)
        if (i + 1 >= number)
            racy |= strstr(line, "/* race:") || strstr(line, "// race:");
    if (source)
        fclose(source);
    return racy;
}

struct Known {
    std::string text;
    bool racy;
};

bool ends_with(const std::string &text, const std::string &end)
{
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

Known look_up(const void *code)
{
    Known known = { "", false };
    const std::string lines = lines_of(code);
    std::string function;
    for (size_t at = 0; at < lines.size();) {
        const size_t end = lines.find('\n', at);
        const std::string line = lines.substr(at, end - at);
        at = end + 1;
        if (function.empty()) {
            function = line;
            continue;
        }
        const size_t colon = line.rfind(':'), slash = line.rfind('/');
        const std::string file = line.substr(0, colon);
        const unsigned number = colon == std::string::npos ? 0 : (unsigned)atoi(line.c_str() + colon + 1);
        if (!ends_with(file, "cuda_runtime.h") && !ends_with(file, "cooperative_groups.h")) {
            known.racy = known.racy || is_racy(file, number);
            const size_t name = function.rfind(' ', function.find_first_of("<(")) + 1;
            known.text += (known.text.empty() ? "" : ", in ") +
                          function.substr(name, function.find_first_of("<(", name) - name) + " at " +
                          line.substr(slash + 1, line.find(" (") - slash - 1);
        }
        function.clear();
    }
    if (known.text.empty())
        known.text = "somewhere";
    return known;
}

void fail_at_exit()
{
    if (!n_reports || forgiven)
        return;
    fprintf(stderr, "emulation: %u reports%s\n", n_reports, n_reports > MAX_PRINTED ? ", not all of them shown" : "");
    fflush(nullptr);
    _exit(3);
}

} // namespace

Place place_of(const void *code)
{
    static std::map<const void *, Known> all;
    const auto found = all.find(code);
    const Known &known = found != all.end() ? found->second : all.emplace(code, look_up(code)).first->second;
    return { known.text.c_str(), known.racy };
}

void describe_thread(const Thread *t, char *text, size_t size)
{
    snprintf(text, size, "block %u thread %u", t->block->number, t->linear);
}

void report(const char *format, ...)
{
    char sentence[8000], thread[100] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    if (self)
        describe_thread(self, thread, sizeof thread);
    if (!n_reports++)
        atexit(fail_at_exit);
    if (n_reports > MAX_PRINTED)
        return;
    const char *kernel = running && running->name ? running->name : "";
    if (running && !running->name)
        kernel = place_of((const char *)running->kernel + 1).text;
    fprintf(stderr, "emulation: %s%s%s%s%s%s\n", running ? "kernel " : "", kernel, *thread ? ", " : "", thread,
            running ? ": " : "", sentence);
}

unsigned reports()
{
    return n_reports;
}

void forgive_reports(bool forgive)
{
    forgiven = forgive;
}

} // namespace emulate
