// Package known has the tables of what functions outside the user's module do. The
// checks do not look into those functions.
package known

import (
	"go/types"
	"path"
	"slices"
	"strings"

	"github.com/restaq/restaq/checks/internal/marked"
)

// table has patterns of functions by the import path of their package: a name, or
// Type.Method, in which * stands for any text. A path that ends in /... is for all
// below it too, and for every major version.
type table map[string]string

// has reports whether the table has a function.
func (t table) has(fn *types.Func) bool {
	if fn == nil || fn.Pkg() == nil {
		return false
	}
	name := marked.Name(fn)
	for _, pattern := range t.patterns(fn.Pkg().Path()) {
		if ok, _ := path.Match(pattern, name); ok {
			return true
		}
	}
	return false
}

// patterns returns those for the functions of a package.
func (t table) patterns(importPath string) []string {
	if names, ok := t[importPath]; ok {
		return strings.Fields(names)
	}
	for dir := importPath; dir != "." && dir != "/"; dir = path.Dir(dir) {
		if names, ok := t[dir+"/..."]; ok {
			return strings.Fields(names)
		}
	}
	return nil
}

// Name names a function of another package as the code that calls it does.
func Name(fn *types.Func) string {
	if fn.Pkg() == nil {
		return fn.Name()
	}
	return fn.Pkg().Name() + "." + marked.Name(fn)
}

// telemetry are packages whose functions write what people and dashboards read.
// Nothing that a handler does next depends on it. The last element of an import
// path counts, so that a module's own packages are known by it too.
var telemetry = []string{
	"log", "logger", "logging", "logs", "slog", "zap", "zerolog", "logrus", "zlog", "glog", "klog", "logr", "syslog",
	"metric", "metrics", "prometheus", "promauto", "statsd", "expvar", "stats",
	"trace", "tracing", "tracer", "otel", "otlp", "telemetry", "observability", "instrumentation", "attribute", "codes", "sentry", "sentry-go",
}

// Telemetry reports whether a function is one of logging, metrics or tracing.
func Telemetry(fn *types.Func) bool {
	if fn == nil || fn.Pkg() == nil {
		return false
	}
	importPath := fn.Pkg().Path()
	if importPath == marked.Runtime {
		return fn.Name() == "Logger"
	}
	base := path.Base(importPath)
	if len(base) > 1 && base[0] == 'v' && strings.Trim(base[1:], "0123456789") == "" {
		base = path.Base(path.Dir(importPath))
	}
	return slices.Contains(telemetry, base)
}
