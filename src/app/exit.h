/* Exit codes of the program (docs and scripts rely on them). */
#ifndef APP_EXIT_H
#define APP_EXIT_H

enum exit_code {
    EXIT_GOOD = 0,
    EXIT_FAIL = 1,          /* what was asked could not be done; errors in a configuration */
    EXIT_USAGE = 2,         /* the command line is wrong */
    EXIT_WARNINGS = 3,      /* check --strict: warnings only */
    EXIT_AUTH = 4,          /* the token is missing or wrong */
    EXIT_STORE = 5,         /* serve: the audit store failed while running; the log decides at the next start */
    EXIT_MEMORY = 6         /* out of memory where going on is not possible; CHECK_MEMORY_STATUS */
};

#endif
