/* trimtab cost: what the kept signals take on disk, measured, and what they would take. */
#include <stdio.h>
#include <stdlib.h>

#include "app/command.h"
#include "base/buf.h"
#include "store/history.h"

struct line { double a_day, bytes_a_point, kept_bytes; bool measured, packed; };

static void bytes_text(struct buf *b, double v)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int u = 0;
    for (; v >= 1024 && u < 4; u++) v /= 1024;
    buf_sig3(b, v);
    buf_printf(b, " %s", units[u]);
}

/* Points a day from what lies there; bytes from the blocks alone, since all but two hours end as blocks. */
static struct line project(const struct store_cost *c, enum layer layer, double other_bytes_a_point)
{
    struct line l = {0};
    double span = c->first == STORE_NO_TIME ? 0 : (double)(c->last - c->first) / 86400e6;
    double points = (double)(c->row_points + c->block_points);
    l.packed = c->block_points > 0;
    l.bytes_a_point = l.packed ? (double)c->block_bytes / (double)c->block_points : other_bytes_a_point;
    l.measured = span > 0 && points > 1;
    l.a_day = l.measured ? points / span : 0;
    l.kept_bytes = l.a_day * layer_kept_days(layer) * l.bytes_a_point;
    return l;
}

static double mean_bytes(const struct store_cost *all)
{
    double bytes = 0, points = 0;
    for (int i = 0; i < LAYER_COUNT; i++) {
        bytes += (double)all[i].block_bytes;
        points += (double)all[i].block_points;
    }
    return points > 0 ? bytes / points : 0;
}

static void put_number(struct buf *b, const char *key, double v, bool known)
{
    buf_printf(b, "\"%s\":", key);
    if (known) buf_double(b, v);
    else buf_puts(b, "null");
}

static void print_json(const struct store_cost *all, uint64_t file)
{
    struct buf b = BUF_INIT;
    buf_printf(&b, "{\"file_bytes\":%llu,\"layers\":[", (unsigned long long)file);
    for (int i = 0; i < LAYER_COUNT; i++) {
        struct line l = project(&all[i], (enum layer)i, mean_bytes(all));
        buf_printf(&b, "%s{\"layer\":\"%s\",\"series\":%llu,\"points\":%llu,\"days_kept\":%d,", i ? "," : "",
                   layer_name((enum layer)i), (unsigned long long)all[i].series,
                   (unsigned long long)(all[i].row_points + all[i].block_points), layer_kept_days((enum layer)i));
        put_number(&b, "points_a_day", l.a_day, l.measured);
        buf_putc(&b, ',');
        put_number(&b, "bytes_a_point", l.bytes_a_point, l.bytes_a_point > 0);
        buf_putc(&b, ',');
        put_number(&b, "projected_bytes", l.kept_bytes, l.measured && l.bytes_a_point > 0);
        buf_putc(&b, '}');
    }
    buf_puts(&b, "]}\n");
    fputs(buf_text(&b), stdout);
    buf_free(&b);
}

static void cell(struct buf *b, bool known, double v)
{
    if (known) bytes_text(b, v);
    else buf_putc(b, '-');
}

static void print_table(const struct store_cost *all, uint64_t file)
{
    double mean = mean_bytes(all), total = 0;
    struct buf b = BUF_INIT;
    bytes_text(&b, (double)file);
    printf("metrics.db is %s now.\n\n", buf_text(&b));
    printf("%-11s %7s %12s %6s %9s %11s %11s  %s\n", "LAYER", "SERIES", "POINTS/DAY", "DAYS", "B/POINT", "WHEN FULL", "AT 10 TIMES",
           "SAVED BY TWICE THE INTERVAL");
    for (int i = 0; i < LAYER_COUNT; i++) {
        struct line l = project(&all[i], (enum layer)i, mean);
        bool known = l.measured && l.bytes_a_point > 0;
        struct buf full = BUF_INIT, ten = BUF_INIT, half = BUF_INIT, per = BUF_INIT, day = BUF_INIT;
        cell(&full, known, l.kept_bytes);
        cell(&ten, known, 10 * l.kept_bytes);
        cell(&half, known, l.kept_bytes / 2);
        if (l.bytes_a_point > 0) buf_sig3(&per, l.bytes_a_point);
        if (l.measured) buf_fixed(&day, l.a_day, 0);
        printf("%-11s %7llu %12s %6d %9s %11s %11s  %s\n", layer_name((enum layer)i), (unsigned long long)all[i].series,
               day.len ? buf_text(&day) : "-", layer_kept_days((enum layer)i), per.len ? buf_text(&per) : "-", buf_text(&full),
               buf_text(&ten), buf_text(&half));
        total += known ? l.kept_bytes : 0;
        buf_free(&full);
        buf_free(&ten);
        buf_free(&half);
        buf_free(&per);
        buf_free(&day);
    }
    if (mean <= 0) {
        puts("\nBytes a point are known two hours after the first point, when the first block has been packed.");
        buf_free(&b);
        return;
    }
    buf_clear(&b);
    bytes_text(&b, total);
    printf("\nWhen every layer has reached its days: %s", buf_text(&b));
    buf_clear(&b);
    bytes_text(&b, 10 * total);
    printf("; with ten times the services: %s.\n", buf_text(&b));
    buf_free(&b);
}

int command_cost(const struct args *a)
{
    struct store_copy *copy = NULL;
    struct store_cost all[LAYER_COUNT];
    uint64_t file;
    struct err e;
    char path[1200];
    const char *data = args_text(a, "data"), *o = args_text(a, "output");
    bool json = o && o[0] == 'j';
    if (!args_want(a, 0, 0)) return EXIT_USAGE;
    if (!data) data = getenv("TRIMTAB_DATA");
    snprintf(path, sizeof path, "%s/metrics.db", data ? data : "./trimtab-data");
    enum status s = store_copy_open(&copy, path, &e);
    if (s == STATUS_OK) s = store_copy_cost(copy, all, &file, &e);
    store_copy_close(copy);
    if (s != STATUS_OK) {
        fprintf(stderr, "trimtab cost: %s\n", e.text);
        return EXIT_FAIL;
    }
    if (json) print_json(all, file);
    else print_table(all, file);
    return EXIT_GOOD;
}
