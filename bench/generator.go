package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// bar is how many times as long as go list -export the generator may take.
const bar = 1.5

// contender is a command whose time is measured.
type contender struct {
	name  string
	dir   string // where it runs
	args  []string
	times []time.Duration
}

// generatorRows measures the generator on a package against go list -export on
// it, which is what any tool must at least do to know the package's types. The
// peers are measured in the same way, on a package of their own.
func generatorRows(ctx context.Context, out io.Writer, runs int) error {
	dir, err := os.MkdirTemp("", "restaq-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	tool := func(name string) string { return filepath.Join(dir, name) }
	for _, build := range []struct{ dir, name, path string }{
		{"..", "restaqgen", "./cmd/restaqgen"},
		{".", "stringer", "golang.org/x/tools/cmd/stringer"},
		{".", "moq", "github.com/matryer/moq"},
	} {
		if err := run(ctx, build.dir, "go", "build", "-o", tool(build.name), build.path); err != nil {
			return err
		}
	}
	groups := [][]*contender{
		{goList("workflow"), {name: "restaqgen", dir: "workflow", args: []string{tool("restaqgen")}}},
		{goList("../examples/billing"), {name: "restaqgen", dir: "../examples/billing", args: []string{tool("restaqgen")}}},
		{
			goList("subject"),
			{name: "stringer", dir: "subject", args: []string{tool("stringer"), "-type", "Status", "-output", tool("status.go"), "."}},
			{name: "moq", dir: "subject", args: []string{tool("moq"), "-out", tool("mailer.go"), ".", "Mailer"}},
		},
	}
	fmt.Fprintf(out, "a package warm, %d runs\tpackage\tbest\tmedian\tof go list\tbar\n", runs)
	for _, group := range groups {
		if err := measure(ctx, group, runs); err != nil {
			return err
		}
		for _, c := range group {
			ratio := median(ratios(c.times, group[0].times))
			fmt.Fprintf(out, "%s\t%s\t%.3f s\t%.3f s\t%.2f\t%s\n", c.name, filepath.Base(c.dir),
				slices.Min(c.times).Seconds(), median(c.times).Seconds(), ratio, verdict(c.name, ratio))
		}
	}
	return nil
}

// goList is the command that others are measured against.
func goList(dir string) *contender {
	return &contender{name: "go list -export", dir: dir, args: []string{"go", "list", "-export", "-f", "{{.Export}}", "."}}
}

// measure runs each contender runs times, in turn, after once to warm up.
func measure(ctx context.Context, group []*contender, runs int) error {
	for i := range runs + 1 {
		for _, c := range group {
			start := time.Now()
			if err := run(ctx, c.dir, c.args...); err != nil {
				return err
			}
			if i > 0 {
				c.times = append(c.times, time.Since(start))
			}
		}
	}
	return nil
}

func run(ctx context.Context, dir string, args ...string) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("run %s: %w\n%s", args, err, out)
	}
	return nil
}

func median[T cmp.Ordered](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// ratios compares times run by run, so that a busy moment counts on both sides.
func ratios(times, base []time.Duration) []float64 {
	quotients := make([]float64, len(times))
	for i := range times {
		quotients[i] = float64(times[i]) / float64(base[i])
	}
	return quotients
}

// verdict says of the generator's row whether it keeps the promise.
func verdict(name string, ratio float64) string {
	switch {
	case name != "restaqgen":
		return ""
	case ratio <= bar:
		return fmt.Sprintf("≤ %.1f: kept", bar)
	}
	return fmt.Sprintf("≤ %.1f: MISSED", bar)
}
