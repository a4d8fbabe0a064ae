#include "app/page_fetch.h"

#include <curl/curl.h>
#include <string.h>

#include "app/input.h"
#include "base/text.h"

#define PAGE_MAX ((size_t)16 << 20)
#define ACCEPT "Accept: text/plain;version=1.0.0;q=0.9,text/plain;version=0.0.4;q=0.8,*/*;q=0.1"

struct sink { struct buf *out; size_t begin, limit; };

static size_t on_bytes(char *bytes, size_t size, size_t n, void *arg)
{
    struct sink *s = arg;
    if (s->out->len - s->begin + size * n > s->limit) return 0;
    buf_add(s->out, bytes, size * n);
    return size * n;
}

enum status page_get(const char *url, size_t limit, struct buf *out, struct err *e)
{
    struct sink sink = {out, out->len, limit};
    struct curl_slist *headers = curl_slist_append(NULL, ACCEPT);
    char why[CURL_ERROR_SIZE] = "";
    long status = 0;
    CURL *curl = curl_easy_init();
    if (!curl) return err_set(e, STATUS_MEMORY, "out of memory");
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, 5000L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, 20000L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &sink);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, why);
    CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_cleanup(curl);
    curl_slist_free_all(headers);
    if (code == CURLE_WRITE_ERROR) return err_set(e, STATUS_LIMIT, "%s gives more than %zu bytes", url, limit);
    if (code != CURLE_OK) return err_set(e, STATUS_IO, "%s does not answer: %s", url, why[0] ? why : curl_easy_strerror(code));
    if (status / 100 != 2) return err_set(e, STATUS_IO, "%s answers with status %ld", url, status);
    return STATUS_OK;
}

enum status page_fetch(const char *from, struct buf *out, struct err *e)
{
    if (text_starts(from, "http://") || text_starts(from, "https://")) return page_get(from, PAGE_MAX, out, e);
    return input_read(from, PAGE_MAX, out, e);
}
