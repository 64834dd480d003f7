/* Deflates a text that it makes itself. */
#include "zlib.h"
#include <stdio.h>

enum { SIZE = 32768 };
static unsigned char text[SIZE], packed[2 * SIZE];

int main(void) {
    static const char *words[] = {"the ", "tuner ", "asks ", "for ", "a ", "combination ", "of ", "levels, ", "measures ",
                                  "it ", "and ", "learns.\n", "0x", "int ", "return ", "; "};
    unsigned state = 1, n = 0;
    while (n < SIZE) {
        state = state * 1664525u + 1013904223u;
        const char *word = words[state >> 28];
        while (*word && n < SIZE) text[n++] = (unsigned char)*word++;
        if ((state >> 8 & 3) == 0 && n < SIZE) text[n++] = (unsigned char)('a' + (state >> 12) % 26);
    }
    z_stream s = {0};
    if (deflateInit(&s, 6) != Z_OK) return 1;
    s.next_in = text, s.avail_in = SIZE, s.next_out = packed, s.avail_out = sizeof packed;
    if (deflate(&s, Z_FINISH) != Z_STREAM_END) return 1;
    printf("%lu bytes, adler %lx\n", s.total_out, s.adler);
    return deflateEnd(&s) != Z_OK;
}
