package main

import (
	"errors"
	"io"
	"time"
	"unsafe"

	vm "github.com/VictoriaMetrics/VictoriaMetrics/lib/protoparser/prometheus"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
)

const (
	prometheusModule = "github.com/prometheus/prometheus"
	victoriaModule   = "github.com/VictoriaMetrics/VictoriaMetrics"
)

// readPrometheus goes through a page as its scrape loop does. known: every series was met on an earlier scrape, so that
// its labels are not built again.
func readPrometheus(p page, symbols *labels.SymbolTable, known bool) (samples int, err error) {
	var parser textparse.Parser
	if p.openMetrics {
		parser = textparse.NewOpenMetricsParser(p.bytes, symbols)
	} else {
		parser = textparse.NewPromParser(p.bytes, symbols, false)
	}
	var set labels.Labels
	for {
		entry, err := parser.Next()
		if errors.Is(err, io.EOF) {
			return samples, nil
		}
		if err != nil {
			return samples, err
		}
		if entry != textparse.EntrySeries {
			continue
		}
		parser.Series()
		if !known {
			parser.Labels(&set)
		}
		samples++
	}
}

// readVictoria reads the samples of a page; texts of HELP and TYPE are skipped, as its agent does unless told otherwise.
func readVictoria(p page, rows *vm.Rows, complain func(string)) {
	rows.UnmarshalWithErrLogger(unsafe.String(&p.bytes[0], len(p.bytes)), complain)
}

func accepted(p page) bool {
	if _, err := readPrometheus(p, labels.NewSymbolTable(), false); err != nil {
		return false
	}
	clean := true
	var rows vm.Rows
	readVictoria(p, &rows, func(string) { clean = false })
	return clean
}

func measure(pages []page, read func(page)) float64 {
	size := 0
	for _, p := range pages {
		size += len(p.bytes)
		read(p)
	}
	rounds, from := 0, cpuTime()
	for cpuTime()-from < measureFor {
		for _, p := range pages {
			read(p)
		}
		rounds++
	}
	return float64(rounds*size) / time.Duration(cpuTime()-from).Seconds() / 1e6
}

func measureParsers(pages []page) {
	symbols := labels.NewSymbolTable()
	print("parse_prometheus", measure(pages, func(p page) {
		if _, err := readPrometheus(p, symbols, false); err != nil {
			fail(err)
		}
	}), "MB/s", prometheusModule)
	print("parse_prometheus_known_series", measure(pages, func(p page) {
		if _, err := readPrometheus(p, symbols, true); err != nil {
			fail(err)
		}
	}), "MB/s", prometheusModule)
	var rows vm.Rows
	print("parse_victoriametrics", measure(pages, func(p page) {
		readVictoria(p, &rows, func(line string) { fail(errors.New(line)) })
	}), "MB/s", victoriaModule)
}
