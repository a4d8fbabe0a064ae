/* Runs a fuzz target over each file of a corpus folder, so that every input once found stays a test.
 * A corpus that cannot be read, or is empty, is a failure: a test that saw nothing proves nothing. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUT_MAX (16u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        return -1;
    }
    uint8_t *bytes = malloc(INPUT_MAX);
    size_t n = bytes ? fread(bytes, 1, INPUT_MAX, f) : 0;
    int failed = !bytes || ferror(f);
    fclose(f);
    /* An exact copy: reading one byte past the input must be seen by the sanitizer. */
    uint8_t *exact = failed ? NULL : malloc(n ? n : 1);
    if (exact) {
        memcpy(exact, bytes, n);
        LLVMFuzzerTestOneInput(exact, n);
    }
    free(exact);
    free(bytes);
    return exact ? 0 : -1;
}

static int replay_folder(const char *folder, size_t *ret_count)
{
    DIR *dir = opendir(folder);
    if (!dir) {
        perror(folder);
        return -1;
    }
    int rc = 0;
    for (struct dirent *e; rc == 0 && (e = readdir(dir)) != NULL;) {
        char path[4096];
        if (e->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        rc = replay_file(path);
        if (rc == 0) (*ret_count)++;
    }
    closedir(dir);
    return rc;
}

int main(int argc, char **argv)
{
    size_t count = 0;
    for (int i = 1; i < argc; i++)
        if (replay_folder(argv[i], &count) != 0) return 1;
    printf("replayed %zu inputs\n", count);
    return count ? 0 : 1;
}
