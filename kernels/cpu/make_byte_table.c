/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Writes byte_table.c, the tables that byte_table.h declares: make_byte_table OUTPUT. Runs on the build machine. */
#include <stdio.h>
#include <stdlib.h>

static void write_positions(FILE *file, unsigned byte)
{
    const char *separator = "";
    fputs("    { ", file);
    for (unsigned bit = 0; bit < 8; bit++)
        if (byte >> bit & 1) {
            fprintf(file, "%s%u", separator, bit);
            separator = ", ";
        }
    fputs(byte ? " },\n" : "0 },\n", file);
}

static void write_ranks(FILE *file, unsigned byte)
{
    unsigned rank = 0;
    fputs("    { ", file);
    for (unsigned bit = 0; bit < 8; bit++) {
        fprintf(file, "%u%s", rank, bit < 7 ? ", " : " },\n");
        rank += byte >> bit & 1;
    }
}

static void write_table(FILE *file, const char *name, void (*write_row)(FILE *file, unsigned byte))
{
    fprintf(file, "\nconst uint8_t %s[256][8] = {\n", name);
    for (unsigned byte = 0; byte < 256; byte++)
        write_row(file, byte);
    fputs("};\n", file);
}

int main(int argc, char **argv)
{
    FILE *const file = argc == 2 ? fopen(argv[1], "w") : NULL;
    if (!file) {
        fprintf(stderr, "make_byte_table OUTPUT: cannot write %s\n", argc == 2 ? argv[1] : "without OUTPUT");
        return EXIT_FAILURE;
    }
    fputs("#include \"cpu/byte_table.h\"\n", file);
    write_table(file, "ccl_byte_positions", write_positions);
    write_table(file, "ccl_byte_ranks", write_ranks);
    return fclose(file) ? EXIT_FAILURE : EXIT_SUCCESS;
}
