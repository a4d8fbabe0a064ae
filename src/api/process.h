/* Numbers about this process, from /proc. What cannot be read is 0. */
#ifndef API_PROCESS_H
#define API_PROCESS_H

struct process_numbers { double cpu_seconds, resident_bytes, virtual_bytes, open_fds, max_fds; };
void process_read(struct process_numbers *ret);

#endif
