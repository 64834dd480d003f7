/* Tunes two knobs of a made-up machine through `trimtab serve`: cc client.c -o client && ./client [path of trimtab] */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static FILE *to, *from;
static char answer[65536];
static void call(const char *message) {
    fprintf(to, "%s\n", message), fflush(to);
    if (!fgets(answer, sizeof answer, from) || strstr(answer, "{\"error\"") == answer) fputs(answer, stderr), exit(1);
}
int main(int argc, char **argv) {
    int in[2], out[2], id, gain;
    char mode[8], message[128], best[96] = "";
    if (pipe(in) || pipe(out)) return perror("pipe"), 1;
    if (fork() == 0) {
        dup2(in[0], 0), dup2(out[1], 1), close(in[1]), close(out[0]);
        execlp(argc > 1 ? argv[1] : "trimtab", "trimtab", "serve", (char *)0), _exit(127);
    }
    close(in[0]), close(out[1]), to = fdopen(in[1], "w"), from = fdopen(out[0], "r");
    call("{\"op\":\"init\",\"seed\":1,\"budget\":20,\"knobs\":{\"mode\":[\"slow\",\"fast\"],\"gain\":\"0..31\"}}");
    for (;;) {
        call("{\"op\":\"ask\"}");
        if (sscanf(answer, "{\"id\":%d,\"config\":{\"mode\":\"%7[a-z]\",\"gain\":%d}", &id, mode, &gain) != 3) break;
        int cost = abs(gain - 21) + (strcmp(mode, "fast") ? 5 : 0); /* the measurement */
        snprintf(message, sizeof message, "{\"op\":\"tell\",\"id\":%d,\"value\":%d}", id, cost);
        call(message);
        snprintf(best, sizeof best, "%s", strstr(answer, "\"best\":"));
    }
    double value;
    sscanf(best, "\"best\":{\"config\":{\"mode\":\"%7[a-z]\",\"gain\":%d},\"value\":%lf", mode, &gain, &value);
    printf("%s %d %g\n", mode, gain, value);
    return 0;
}
