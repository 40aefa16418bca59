package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// The module that the checks are measured on.
const (
	checkedPackages = 100
	checkedHandlers = 2 // in each package
	checkedSteps    = 5 // of each handler
)

// vetter is a command whose time and processor time are measured.
type vetter struct {
	name        string
	args        []string
	wall, spent []time.Duration
}

// checkRows measures restaqgen check against go vet on a module of many packages
// and steps: when nothing has changed since the last time, when every package has,
// and if cold with empty caches, which both then fill.
func checkRows(ctx context.Context, out io.Writer, runs int, cold bool) error {
	dir, err := os.MkdirTemp("", "restaq-checks-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	tool := filepath.Join(dir, "restaqgen")
	if err := run(ctx, "..", "go", "build", "-o", tool, "./cmd/restaqgen"); err != nil {
		return err
	}
	module := filepath.Join(dir, "module")
	if err := writeCheckedModule(module, 0); err != nil {
		return err
	}
	if err := run(ctx, module, tool, "./..."); err != nil {
		return err
	}
	fmt.Fprintf(out, "checks of %d packages, %d steps\tround\tprocessor\telapsed\tof go vet\tbar\n", checkedPackages, checkedPackages*checkedHandlers*checkedSteps)
	round := 0
	kinds := []string{"unchanged", "changed"}
	if cold {
		kinds = append(kinds, "cold")
	}
	for _, kind := range kinds {
		vet := &vetter{name: "go vet", args: []string{"go", "vet", "./..."}}
		check := &vetter{name: "restaqgen check", args: []string{tool, "check", "./..."}}
		times := runs
		if kind == "cold" {
			times = 1 // each takes a minute
		}
		for i := range times + 1 {
			if i == 0 && kind == "cold" {
				continue // there is nothing to warm up
			}
			if kind == "changed" {
				round++
				if err := writeCheckedModule(module, round); err != nil {
					return err
				}
			}
			for _, v := range []*vetter{vet, check} {
				if err := v.measure(ctx, dir, module, kind == "cold", i > 0); err != nil {
					return err
				}
			}
		}
		ratio := median(ratios(check.spent, vet.spent))
		fmt.Fprintf(out, "go vet\t%s\t%.2f s\t%.2f s\t1.00\t\n", kind, median(vet.spent).Seconds(), median(vet.wall).Seconds())
		fmt.Fprintf(out, "restaqgen check\t%s\t%.2f s\t%.2f s\t%.2f\t%s\n", kind, median(check.spent).Seconds(), median(check.wall).Seconds(), ratio, verdict("restaqgen", ratio))
	}
	return nil
}

// measure runs the command once, with caches of its own that are empty if it is
// to be cold.
func (v *vetter) measure(ctx context.Context, dir, module string, cold, counts bool) error {
	cmd := exec.CommandContext(ctx, v.args[0], v.args[1:]...)
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
	if cache, err := exec.CommandContext(ctx, "go", "env", "GOCACHE").Output(); err == nil && !cold {
		cmd.Env = append(cmd.Env, "GOCACHE="+strings.TrimSpace(string(cache)))
	}
	if cold {
		empty, err := os.MkdirTemp(dir, "cold-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(empty)
		cmd.Env = append(cmd.Env, "GOCACHE="+filepath.Join(empty, "go"), "XDG_CACHE_HOME="+filepath.Join(empty, "user"))
	}
	start := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("run %s: %w\n%s", v.name, err, out)
	}
	if counts {
		v.wall = append(v.wall, time.Since(start))
		v.spent = append(v.spent, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	return nil
}

// writeCheckedModule writes the module, or in another round its packages with a
// change that asks for no generation.
func writeCheckedModule(dir string, round int) error {
	root, err := filepath.Abs("..")
	if err != nil {
		return err
	}
	own, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return err
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		return err
	}
	_, requirements, _ := strings.Cut(string(own), "\nrequire (")
	requirements, _, _ = strings.Cut(requirements, "\ntool ")
	files := map[string]string{
		"go.mod": "module example.com\n\ngo 1.26.0\n\nrequire github.com/restaq/restaq v0.0.0\n\nrequire (" + requirements + "\nreplace github.com/restaq/restaq => " + root + "\n",
		"go.sum": string(sums),
	}
	for i := range checkedPackages {
		files[fmt.Sprintf("p%03d/p.go", i)] = checkedPackage(i, round)
	}
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// checkedPackage is the source of one package.
func checkedPackage(i, round int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `package p%03d

import (
	"context"
	"fmt"

	restaq "github.com/restaq/restaq/runtime"
)

type Service struct{}

type Order struct {
	ID    string `+"`json:\"id\"`"+`
	Total int64  `+"`json:\"total\"`"+`
	Lines []Line `+"`json:\"lines\"`"+`
}

type Line struct {
	SKU   string `+"`json:\"sku\"`"+`
	Count int    `+"`json:\"count\"`"+`
}
`, i)
	for h := range checkedHandlers {
		fmt.Fprintf(&b, "\n//restaq:on acme.p%d.event%d\nfunc (s *Service) Handle%d(ctx context.Context, event restaq.Event) error {\n\torder := Order{ID: event.ID}\n", i, h, h)
		for n := h * checkedSteps; n < (h+1)*checkedSteps; n++ {
			fmt.Fprintf(&b, "\tout%d, err := s.do%dStep(ctx, order, \"%d\")\n\tif err != nil {\n\t\treturn err\n\t}\n\torder.Lines = append(order.Lines, s.line(out%d, %d))\n", n, n, n, n, n)
		}
		b.WriteString("\trestaq.Logger(ctx).Info(\"done\", \"order\", order.ID)\n\treturn nil\n}\n")
	}
	for n := range checkedHandlers * checkedSteps {
		fmt.Fprintf(&b, `
//restaq:step
func (s *Service) do%d(ctx context.Context, order Order, note string) (Order, error) {
	if order.ID == "" {
		return Order{}, fmt.Errorf("order %%q: no id", note)
	}
	order.Total += int64(len(note))
	return order, nil
}
`, n)
	}
	fmt.Fprintf(&b, `
func (s *Service) line(order Order, n int) Line {
	return Line{SKU: fmt.Sprintf("%%s-%%d", order.ID, n), Count: n + %d}
}
`, round)
	return b.String()
}
