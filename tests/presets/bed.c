#include "support/test.h"

#include "presets/bed.h"

void bed_open(struct bed *b, const char *preset)
{
    struct buf out = BUF_INIT;
    memset(b, 0, sizeof *b);
    bool ok = config_preset_read(&b->arena, NULL, preset, &b->info, &b->d);
    if (ok) b->policy = probe_policy(&b->info, NULL, "", &b->d);
    config_print_diagnostics(&out, &b->d, false);
    if (!b->policy) print_error("%s: %s\n", preset, buf_text(&out));
    buf_free(&out);
    assert_non_null(b->policy);
    b->s = &b->policy->services[0];
}

void bed_close(struct bed *b)
{
    config_free(b->policy);
    config_diagnostics_free(&b->d);
    arena_free(&b->arena);
}

void bed_feed(struct bed *b, const struct buf *page, double plus)
{
    struct err e;
    enum expo_format format = probe_format(buf_text(page), page->len);
    bool ok = probe_signals(b->s, buf_text(page), page->len, format, plus, b->found, &e);
    if (!ok) print_error("%s: %s\n", b->info.name, e.text);
    assert_true(ok);
}

const struct probe_signal *bed_signal(const struct bed *b, const char *name)
{
    for (uint16_t i = 0; i < b->s->signal_count; i++)
        if (strcmp(b->s->signals[i].name, name) == 0) return &b->found[i];
    return NULL;
}

bool bed_page(struct buf *out, const char *name)
{
    char path[1200];
    const char *shared = shared_folder();
    if (strncmp(name, "synthetic/", 10) == 0) snprintf(path, sizeof path, SOURCE_DIR "/tests/presets/pages/%s", name + 10);
    else if (shared) snprintf(path, sizeof path, "%s/samples/%s", shared, name);
    else return false;
    FILE *f = fopen(path, "rb");
    if (!f) print_error("%s is missing\n", path);
    assert_non_null(f);
    for (int c; (c = getc(f)) != EOF;) buf_putc(out, (char)c);
    fclose(f);
    return true;
}
