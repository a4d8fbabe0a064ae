package main

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"os"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/teststorage"
)

// loadSeries reads lines of `name{label="value",...} STEP_MS VALUE VALUE ...`, the first value at time 0.
func loadSeries(path string) *teststorage.TestStorage {
	store, err := teststorage.NewWithError()
	if err != nil {
		fail(err)
	}
	file, err := os.Open(path)
	if err != nil {
		fail(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	p := parser.NewParser(parser.Options{})
	appender := store.Appender(context.Background())
	for lines.Scan() {
		fields := strings.Split(lines.Text(), " ")
		set, err := p.ParseMetric(fields[0])
		if err != nil {
			fail(err)
		}
		addSamples(appender, set, fields[1], fields[2:])
	}
	if err := appender.Commit(); err != nil {
		fail(err)
	}
	return store
}

type sampleAppender interface {
	Append(ref storage.SeriesRef, l labels.Labels, t int64, v float64) (storage.SeriesRef, error)
}

func addSamples(appender sampleAppender, set labels.Labels, stepText string, values []string) {
	step, err := strconv.ParseInt(stepText, 10, 64)
	if err != nil {
		fail(err)
	}
	for i, text := range values {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			fail(err)
		}
		if _, err := appender.Append(0, set, int64(i)*step, v); err != nil {
			fail(err)
		}
	}
}

func readQueries(path string) (queries []string) {
	b, err := os.ReadFile(path)
	if err != nil {
		fail(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		queries = append(queries, line)
	}
	return queries
}

// sumOf adds up what is finite, in the order of size, so that two engines which sort otherwise agree.
func sumOf(v promql.Vector) (sum float64) {
	values := make([]float64, 0, len(v))
	for _, e := range v {
		if !math.IsNaN(e.F) && !math.IsInf(e.F, 0) {
			values = append(values, e.F)
		}
	}
	sort.Float64s(values)
	for _, f := range values {
		sum += f
	}
	return sum
}

func measureQueries(seriesPath, queriesPath string) {
	store := loadSeries(seriesPath)
	defer store.Close()
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 50_000_000, Timeout: time.Minute, EnableAtModifier: true})
	ask := func(text string, at time.Time) promql.Vector {
		q, err := engine.NewInstantQuery(context.Background(), store, nil, text, at)
		if err != nil {
			fail(err)
		}
		defer q.Close()
		v, err := q.Exec(context.Background()).Vector()
		if err != nil {
			fail(err)
		}
		return v
	}
	for i, text := range readQueries(queriesPath) {
		from, n := cpuTime(), 0
		var answer promql.Vector
		for cpuTime()-from < measureFor/5 {
			answer = append(promql.Vector{}, ask(text, time.UnixMilli(3_000_000+int64(n%7)*1000))...)
			n++
		}
		rate := float64(n) / (cpuTime() - from).Seconds()
		answer = ask(text, time.UnixMilli(3_000_000))
		print(fmt.Sprintf("promql_prometheus_%d", i+1), rate, "evaluations/s", prometheusModule)
		fmt.Printf("{\"answer\":%d,\"size\":%d,\"sum\":%.17g}\n", i+1, len(answer), sumOf(answer))
	}
}
