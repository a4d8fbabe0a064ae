/* trimtab reasons: needs no daemon, but shows what the API shows. */
#include <stdio.h>

#include "app/output.h"
#include "app/table.h"
#include "model/reason.h"

static json_t *table_json(void)
{
    json_t *list = json_array();
    for (unsigned i = REASON_NONE + 1; i < REASON_COUNT; i++) {
        enum reason r = (enum reason)i;
        const char *kind = reason_kind_name(reason_kind(r));
        json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:s,s:s}", "reason", reason_code(r), "kind", kind, "sentence",
                                              reason_sentence(r), "opens_when", reason_advice(r), "keys", reason_keys(r)));
    }
    return json_pack("{s:o}", "reasons", list);
}

int command_reasons(const struct args *a)
{
    struct table t;
    enum output o;
    if (!args_want(a, 0, 0) || !output_of(a, &o)) return EXIT_USAGE;
    json_t *all = table_json();
    if (!output_value(o, all)) {
        json_t *r;
        size_t i;
        table_open(&t, o == OUTPUT_WIDE ? "REASON|KIND|RULED BY|WHAT IT MEANS|WHAT TO DO" : "REASON|KIND|WHAT IT MEANS|WHAT TO DO");
        json_array_foreach(json_object_get(all, "reasons"), i, r) {
            table_cell(&t, text_of(r, "reason"));
            table_cell(&t, text_of(r, "kind"));
            if (o == OUTPUT_WIDE) table_cell(&t, text_of(r, "keys"));
            table_cell(&t, text_of(r, "sentence"));
            table_cell(&t, text_of(r, "opens_when"));
        }
        table_show(&t, 0);
    }
    json_decref(all);
    return EXIT_GOOD;
}
