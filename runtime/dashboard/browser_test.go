package dashboard_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/restaq/restaq/internal/chromium"
)

// browser is the one that all tests of this process share, each with cookies and
// tabs of its own. It ends with the process.
var browser struct {
	once sync.Once
	ctx  context.Context
	stop context.CancelFunc
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if browser.stop != nil {
		browser.stop()
	}
	os.Exit(code)
}

func startBrowser() {
	path, err := chromium.Path()
	if err != nil {
		browser.err = err
		return
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	browser.ctx, browser.stop = ctx, func() { cancel(); stop() }
	browser.err = chromedp.Do(ctx)
}

// tab is a page in a browser, as a person has it.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	problems []string // what the browser complains of
}

// screen is what a person looks at.
type screen struct {
	width, height int64
	dark          bool
	noScript      bool
}

var (
	desk  = screen{width: 1280, height: 900}
	phone = screen{width: 360, height: 740}
)

// patience bounds a test's time in the browser.
const patience = time.Minute

func openTab(t *testing.T, s screen) *tab {
	t.Helper()
	browser.once.Do(startBrowser)
	if browser.err != nil {
		t.Fatalf("start browser: %v", browser.err)
	}
	b := &tab{t: t}
	ctx, cancel := chromedp.NewContext(browser.ctx, chromedp.WithNewBrowserContext(), chromedp.WithListener(b.hear))
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("open tab: %v", err)
	}
	var stop context.CancelFunc
	b.ctx, stop = context.WithTimeout(ctx, patience)
	t.Cleanup(stop)
	scheme := "light"
	if s.dark {
		scheme = "dark"
	}
	command(b, log.Enable, cdp.Empty{})
	command(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: s.width, Height: s.height, DeviceScaleFactor: 1, Mobile: s.width < 500,
	})
	command(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
	command(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: s.noScript})
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, p := range b.problems {
			t.Errorf("the browser complains: %s", p)
		}
	})
	return b
}

// command sends a command to the browser's tab.
func command[P, R any](b *tab, c cdp.Command[P, R], params P) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, c, params); err != nil {
		b.t.Fatal(err)
	}
}

// hear notes errors, warnings and dialogs.
func (b *tab) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.problems = append(b.problems, e.ExceptionDetails.Text+" "+e.ExceptionDetails.URL)
	case *runtime.EventConsoleAPICalled:
		b.problems = append(b.problems, "console: "+string(e.Type))
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			b.problems = append(b.problems, e.Entry.Text+" "+e.Entry.URL)
		}
	case *page.EventJavascriptDialogOpening:
		b.problems = append(b.problems, "dialog: "+e.Message)
	}
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.fail(err)
	}
}

// fail ends the test with what the page shows.
func (b *tab) fail(err error) {
	b.t.Helper()
	ctx, stop := context.WithTimeout(context.WithoutCancel(b.ctx), 10*time.Second)
	defer stop()
	shown, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`document.body ? location.pathname + "\n" + document.body.innerText : ""`))
	b.t.Fatalf("%v; the page is\n%.2000s", err, shown)
}

// value returns what an expression is.
func value[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.fail(err)
	}
	return v
}

// until waits until an expression is true.
func (b *tab) until(expression string) {
	b.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		// An error is that of a page that is going away: the next one may do.
		ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
		if ok && err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-b.ctx.Done():
			b.fail(fmt.Errorf("wait for %s: %w", expression, errors.Join(b.ctx.Err(), err)))
		}
	}
}

// sees waits until the page shows a text.
func (b *tab) sees(text string) {
	b.t.Helper()
	b.until(fmt.Sprintf("document.body && document.body.innerText.includes(%q)", text))
}

// click clicks the first of what matches once it is there.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.do(chromedp.Click(chromedp.CSS(selector)))
}

// shows waits until an element can be seen.
func (b *tab) shows(selector string) {
	b.t.Helper()
	b.do(chromedp.WaitVisible(chromedp.CSS(selector)))
}

// run runs a script.
func (b *tab) run(script string) {
	b.t.Helper()
	value[int](b, script+"; 0")
}

// focus focuses an element.
func (b *tab) focus(selector string) {
	b.t.Helper()
	b.do(chromedp.Focus(chromedp.CSS(selector)))
}

// press presses keys.
func (b *tab) press(keys string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// focused is the focused element in words.
func (b *tab) focused() string {
	b.t.Helper()
	return value[string](b, `(e => (e.nodeName + " " + (e.name || "") + " " + (e.textContent || "")).trim().replace(/\s+/g, " ").toLowerCase())(document.activeElement)`)
}

// fits fails if the page is wider than the window.
func (b *tab) fits(where string) {
	b.t.Helper()
	wide := value[[]string](b, `(w => [...document.querySelectorAll("body *")].filter(e => {
		const r = e.getBoundingClientRect();
		if (r.width === 0 || r.right <= w + 1) return false;
		for (let p = e.parentElement; p; p = p.parentElement) if (/auto|scroll|hidden/.test(getComputedStyle(p).overflowX)) return false;
		return true;
	}).map(e => e.nodeName + "." + e.getAttribute("class") + " " + Math.round(e.getBoundingClientRect().right)))(document.documentElement.clientWidth)`)
	if len(wide) > 0 {
		b.t.Errorf("%s: wider than the window: %s", where, strings.Join(wide[:min(len(wide), 5)], ", "))
	}
}

// accessible fails if a text has too little contrast, a field no label, a link or
// button no name, or the page not one main heading.
func (b *tab) accessible(where string) {
	b.t.Helper()
	for _, problem := range value[[]string](b, accessibility) {
		b.t.Errorf("%s: %s", where, problem)
	}
}

// accessibility finds what is wrong with a page. Contrast is that of WCAG 2.
const accessibility = `(() => {
	const found = new Set();
	const parse = c => { const m = c.match(/[\d.]+/g).map(Number); return m.length === 3 ? [...m, 1] : m; };
	const light = c => { const [r, g, b] = c.map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126*r + 0.7152*g + 0.0722*b; };
	const over = (top, under) => top.slice(0, 3).map((v, i) => v * top[3] + under[i] * (1 - top[3]));
	const ground = e => {
		if (!e) return [255, 255, 255];
		const c = parse(getComputedStyle(e).backgroundColor);
		return c[3] === 0 ? ground(e.parentElement) : over(c, ground(e.parentElement));
	};
	for (const e of document.querySelectorAll("body *")) {
		const text = [...e.childNodes].filter(n => n.nodeType === 3).map(n => n.nodeValue.trim()).join("");
		if (!text || !e.checkVisibility() || e.closest("svg, .hidden, .skip") || e.nodeName === "OPTION") continue;
		const under = ground(e), style = getComputedStyle(e);
		let opacity = 1;
		for (let p = e; p; p = p.parentElement) opacity *= Number(getComputedStyle(p).opacity);
		const color = parse(style.color);
		color[3] *= opacity;
		const [a, b] = [light(over(color, under)), light(under)].sort((x, y) => y - x);
		const ratio = (a + 0.05) / (b + 0.05);
		if (ratio < 4.5) found.add("contrast " + ratio.toFixed(2) + " of " + e.nodeName + "." + e.className + " " + text.slice(0, 30));
	}
	for (const e of document.querySelectorAll("input:not([type=hidden]), select"))
		if (!e.labels.length && !e.getAttribute("aria-label")) found.add("no label: " + e.outerHTML.slice(0, 80));
	for (const e of document.querySelectorAll("a, button, summary"))
		if (!e.textContent.trim() && !e.getAttribute("aria-label")) found.add("no name: " + e.outerHTML.slice(0, 80));
	for (const e of document.querySelectorAll("svg"))
		if (!e.getAttribute("aria-label") && e.getAttribute("aria-hidden") !== "true") found.add("no description: " + e.outerHTML.slice(0, 80));
	if (document.querySelectorAll("h1").length !== 1) found.add("not one main heading");
	const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
	for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) found.add("id twice: " + id);
	return [...found];
})()`
