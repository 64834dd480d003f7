/* A data logger on SQLite, with a megabyte of heap and a slow memory card.
 *
 * Prints the milliseconds that the run would take there: processor time on this machine, and per call of the
 * system what a card takes. Exit code 1 and the reason if a setting does not fit, such as a cache beyond the heap. */
static int counted_sync(int file);
#define fsync counted_sync
#define fdatasync counted_sync
#include "sqlite3.c"
#undef fsync
#undef fdatasync
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double card;     /* milliseconds */
static int counted_sync(int file) { return (void)file, card += 5, 0; }
static ssize_t counted_read(int file, void *to, size_t n, off_t at) { return card += 0.05 + n / 20e3, pread(file, to, n, at); }
static ssize_t counted_write(int file, const void *from, size_t n, off_t at) { return card += 0.1 + n / 10e3, pwrite(file, from, n, at); }

static char file[] = "/tmp/trimtab-sqlite-XXXXXX";
static void clean(void) {
    static const char *ENDS[] = {"", "-journal", "-wal", "-shm"};
    for (int i = 0; i < 4; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s%s", file, ENDS[i]), unlink(path);
    }
}

static sqlite3 *db;
static void check(int code) {
    if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
    fprintf(stderr, "%s\n", db ? sqlite3_errmsg(db) : sqlite3_errstr(code)), exit(1);
}
static void run(const char *sql) { check(sqlite3_exec(db, sql, 0, 0, 0)); }
static void pragma(const char *name, const char *value) {
    char sql[128];
    snprintf(sql, sizeof sql, "PRAGMA %s=%s", name, value), run(sql);
}
static double now(void) {
    struct timespec t;
    return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t), t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static void work(int batch, int index_first) {
    static const char *INDEX = "CREATE INDEX by_sensor ON log(sensor, time)";
    sqlite3_stmt *add, *find;
    run("CREATE TABLE log(time INTEGER PRIMARY KEY, sensor INT, value REAL, note TEXT)");
    if (index_first) run(INDEX);
    check(sqlite3_prepare_v2(db, "INSERT INTO log VALUES(?, ?, ?, ?)", -1, &add, 0));
    unsigned state = 1;
    for (int i = 0; i < 3000; i++) {
        state = state * 1664525u + 1013904223u;
        if (i % batch == 0) run("BEGIN");
        sqlite3_bind_int(add, 1, i), sqlite3_bind_int(add, 2, state >> 24), sqlite3_bind_double(add, 3, state * 1e-6);
        sqlite3_bind_text(add, 4, "a note of some length, as loggers write them", (int)(8 + (state >> 16 & 31)), SQLITE_STATIC);
        check(sqlite3_step(add)), sqlite3_reset(add);
        if (i % batch == batch - 1 || i == 2999) run("COMMIT");
    }
    check(sqlite3_finalize(add));
    if (!index_first) run(INDEX);
    check(sqlite3_prepare_v2(db, "SELECT avg(value) FROM log WHERE sensor=? AND time>?", -1, &find, 0));
    for (int i = 0; i < 300; i++) {
        sqlite3_bind_int(find, 1, i * 7 % 256), sqlite3_bind_int(find, 2, i * 5), check(sqlite3_step(find)), sqlite3_reset(find);
    }
    check(sqlite3_finalize(find));
    for (int i = 0; i < 40; i++) {
        char sql[96];
        snprintf(sql, sizeof sql, "UPDATE log SET value=value*2 WHERE sensor=%d", i * 6), run(sql);
    }
    run("CREATE TABLE means AS SELECT note, avg(value) FROM log GROUP BY note ORDER BY 2");
    run("DELETE FROM log WHERE time < 1000");
}

int main(int argc, char **argv) {
    if (argc != 15) return fprintf(stderr, "14 settings are needed\n"), 2;
    const char *names[] = {"page_size", "auto_vacuum", "journal_mode", "synchronous", "cache_size", "cache_spill", "temp_store",
                           "mmap_size", "locking_mode", "wal_autocheckpoint", "secure_delete"};
    int made = mkstemp(file);
    if (made < 0) return perror(file), 2;
    close(made), atexit(clean);
    check(sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 512, atoi(argv[14])));
    sqlite3_hard_heap_limit64(1 << 20);
    sqlite3_vfs *vfs = sqlite3_vfs_find(0);
    vfs->xSetSystemCall(vfs, "pread", (sqlite3_syscall_ptr)counted_read);
    vfs->xSetSystemCall(vfs, "pwrite", (sqlite3_syscall_ptr)counted_write);
    double begun = now();
    check(sqlite3_open(file, &db));
    for (int i = 0; i < 11; i++) pragma(names[i], argv[1 + i]);
    work(atoi(argv[12]), atoi(argv[13]));
    check(sqlite3_close(db));
    double time = now() - begun + card;
    printf("%.1f\n", time);
    return 0;
}
