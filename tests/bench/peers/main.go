// Measures parsers and the PromQL engine of others, so that `make bench` can set ours beside them in one run.
//
//	peers accepted FILE...          the pages that both parsers read without an error, one a line
//	peers parse FILE...             bytes a second of CPU, a JSON line a parser
//	peers promql SERIES QUERIES     evaluations a second of CPU, and each answer's size and sum
//
// CPU time of the whole process counts, garbage collection included; it runs on one core.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"
)

const measureFor = 1500 * time.Millisecond

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		fail(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// versionOf names the module's version that this program was built with.
func versionOf(module string) string {
	info, ok := debug.ReadBuildInfo()
	if ok {
		for _, d := range info.Deps {
			if d.Path == module {
				return d.Version
			}
		}
	}
	return "unknown"
}

type figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	Peer  string  `json:"peer"`
}

func print(name string, value float64, unit, module string) {
	line, err := json.Marshal(figure{name, value, unit, module[strings.LastIndex(module, "/")+1:] + " " + versionOf(module)})
	if err != nil {
		fail(err)
	}
	fmt.Println(string(line))
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "peers:", err)
	os.Exit(1)
}

type page struct {
	name        string
	bytes       []byte
	openMetrics bool
}

func readPages(names []string) (pages []page) {
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			fail(err)
		}
		// The old format has no end mark, and a line that ends the file without a newline is cut short to the parsers.
		if !bytes.HasSuffix(b, []byte("\n")) {
			b = append(b, '\n')
		}
		pages = append(pages, page{name, b, strings.HasSuffix(name, ".om.txt")})
	}
	return pages
}

func main() {
	runtime.GOMAXPROCS(1)
	if len(os.Args) < 3 {
		fail(fmt.Errorf("usage: peers accepted|parse FILE... | peers promql SERIES QUERIES"))
	}
	switch os.Args[1] {
	case "accepted":
		for _, p := range readPages(os.Args[2:]) {
			if accepted(p) {
				fmt.Println(p.name)
			}
		}
	case "parse":
		measureParsers(readPages(os.Args[2:]))
	case "promql":
		if len(os.Args) != 4 {
			fail(fmt.Errorf("usage: peers promql SERIES QUERIES"))
		}
		measureQueries(os.Args[2], os.Args[3])
	default:
		fail(fmt.Errorf("unknown command %q", os.Args[1]))
	}
}
