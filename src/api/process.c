#include "api/process.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/num.h"

static void memory(struct process_numbers *p)
{
    char text[256] = "";
    FILE *f = fopen("/proc/self/statm", "re");
    if (!f) return;
    uint64_t pages[2] = {0};
    if (fgets(text, sizeof text, f)) {
        char *at = text;
        for (unsigned i = 0; i < 2; i++) {
            size_t n = strcspn(at, " \n");
            if (!num_parse_u64(at, n, &pages[i])) break;
            at += n + (at[n] != '\0');
        }
    }
    (void)fclose(f);
    p->virtual_bytes = (double)pages[0] * (double)sysconf(_SC_PAGESIZE);
    p->resident_bytes = (double)pages[1] * (double)sysconf(_SC_PAGESIZE);
}

static double count_fds(void)
{
    double n = 0;
    DIR *d = opendir("/proc/self/fd");
    if (!d) return 0;
    for (const struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
    (void)closedir(d);
    return n - 1;   /* without the one that was just used */
}

void process_read(struct process_numbers *ret)
{
    struct rusage u;
    struct rlimit l;
    *ret = (struct process_numbers){0};
    if (getrusage(RUSAGE_SELF, &u) == 0) {
        ret->cpu_seconds =
            (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
    }
    if (getrlimit(RLIMIT_NOFILE, &l) == 0) ret->max_fds = (double)l.rlim_cur;
    ret->open_fds = count_fds();
    memory(ret);
}
