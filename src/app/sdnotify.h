/* What systemd wants to hear from a service of Type=notify, without its library. All do nothing outside systemd. */
#ifndef APP_SDNOTIFY_H
#define APP_SDNOTIFY_H

#include <stdint.h>

void sdnotify(const char *state);              /* "READY=1", "STOPPING=1", "WATCHDOG=1", "STATUS=..." */
int64_t sdnotify_watchdog_us(void);            /* WatchdogSec for this process; 0: none */

#endif
