package dashboard_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/dashboard"
)

// browse opens a tab at a shop's dashboard.
func browse(t *testing.T, shop *shop, s screen) (*tab, *site) {
	t.Helper()
	at := serve(t, shop.rt, dashboard.Config{Title: "demo", Authorize: as("ann", dashboard.Act), Refresh: 50 * time.Millisecond})
	return openTab(t, s), at
}

func (b *tab) open(s *site, path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(s.url + path))
}

func TestEveryPageIsAccessibleInBothThemesAndOnAPhone(t *testing.T) {
	shop := openShop(t)
	shop.fill(t)
	dead, charge := shop.deliverRefund(t, "evt_x"), shop.deliverCharge(t, "evt_y")
	running := shop.deliver(t, restaq.Event{Type: "github.push", ID: "p", Payload: []byte(`{}`)})
	if _, err := shop.rt.Restart(restaq.WithPerson(t.Context(), "ann"), charge.ID); err != nil {
		t.Fatal(err)
	}
	pages := []string{"/", "/?span=30d", "/executions", "/executions?status=dead&text=bank", "/executions?provider=none",
		"/executions/" + dead.ID, "/executions/" + charge.ID + "?find=Ann", "/executions/" + running.ID, "/audit"}
	for name, screen := range map[string]screen{
		"light": desk, "dark": {width: 1280, height: 900, dark: true}, "phone": phone, "dark phone": {width: 360, height: 740, dark: true},
	} {
		t.Run(name, func(t *testing.T) {
			b, s := browse(t, shop, screen)
			for _, path := range pages {
				b.open(s, path)
				b.run(`document.querySelectorAll("details").forEach(d => d.open = true)`)
				b.fits(path)
				b.accessible(path)
			}
		})
	}
}

func TestWhoIsOnCallFindsAndRetriesWhatIsDead(t *testing.T) {
	shop := openShop(t)
	e := shop.deliverRefund(t, "evt_1")
	shop.deliverCharge(t, "evt_2")
	for name, screen := range map[string]screen{"with JavaScript": desk, "without": {width: 1280, height: 900, noScript: true}} {
		t.Run(name, func(t *testing.T) {
			shop.broken.Store(true)
			if _, err := shop.rt.Restart(t.Context(), e.ID); err != nil {
				t.Fatal(err)
			}
			shop.wait(t, e)
			b, s := browse(t, shop, screen)
			b.open(s, "/")
			b.click(".t-dead")
			b.click(`a[href*="` + e.ID + `"]`)
			b.shows(".failure")
			shop.broken.Store(false)
			b.click(`form[action$="/retry"] button`)
			b.shows(".done")
			if screen.noScript {
				if got := shop.wait(t, e); got.Status != restaq.Completed {
					t.Errorf("after the retry it is %s", got.Status)
				}
				return
			}
			b.shows(".head .s-completed") // the page follows
		})
	}
}

func TestManyAreSelectedAndReplayed(t *testing.T) {
	shop := openShop(t)
	for i := range 12 {
		shop.deliverCharge(t, fmt.Sprint("evt_", i))
	}
	b, s := browse(t, shop, desk)
	b.open(s, "/executions?handler="+charged)
	b.shows("#select-all")
	b.click("#select-all")
	if n := value[int](b, `document.querySelectorAll('input[name="id"]:checked').length`); n != 12 {
		t.Fatalf("%d are selected", n)
	}
	b.click(`tbody tr:last-child input[name="id"]`)
	if !value[bool](b, `document.querySelector("#select-all").indeterminate`) {
		t.Error("the box that selects all is not in between")
	}
	b.do(chromedp.SetValue(chromedp.CSS(`select[name="action"]`), "replay"))
	// A new row comes in: what is selected and chosen stays.
	shop.deliverCharge(t, "evt_new")
	b.sees("13 found")
	if n := value[int](b, `document.querySelectorAll('input[name="id"]:checked').length`); n != 11 {
		t.Errorf("after a new row %d are selected", n)
	}
	b.click(`button[value="selected"]`)
	b.sees("Replay 11 executions?")
	b.accessible("preview")
	b.click(".sure .danger")
	b.sees("Replayed 11 executions")
	b.accessible("job")
	if value[float64](b, `document.querySelector("progress").position`) != 1 {
		t.Error("the progress bar is not at its end")
	}
}

func TestAPageThatFollowsKeepsWhatIsOpen(t *testing.T) {
	shop := openShop(t)
	e := shop.deliver(t, restaq.Event{Type: "github.push", ID: "p1", Payload: []byte(`{"a":{"b":{"c":{"d":1}}}}`)})
	b, s := browse(t, shop, desk)
	b.open(s, "/executions/"+e.ID)
	b.until(`document.querySelector("#live-state").textContent === "live"`)
	b.run(`window.marked = document.querySelector(".tree"), marked.open = true, document.querySelector("[name=find]").value = "half written"`)
	b.click(".confirm summary")
	shop.release()
	b.shows(".head .s-completed")
	if !value[bool](b, `window.marked === document.querySelector(".tree") && marked.open && marked.innerText.includes("deploy: completed")`) {
		t.Error("the open history was closed or replaced, or does not follow")
	}
	if got := value[string](b, `document.querySelector("[name=find]").value`); got != "half written" {
		t.Errorf("the field holds %q", got)
	}
	b.until(`document.querySelector("#live-state").textContent === ""`) // it is over
}

func TestThePageIsUsedByKeyboard(t *testing.T) {
	shop := openShop(t)
	e := shop.deliverRefund(t, "evt_1")
	b, s := browse(t, shop, desk)
	b.open(s, "/executions")
	b.until(`document.querySelector("#live-state").textContent === "live"`)
	b.press(kb.Tab)
	if got := b.focused(); got != "a skip to the content" {
		t.Errorf("the first tab leads to %q", got)
	}
	b.press(kb.Enter)
	b.press(kb.Tab)
	if got := b.focused(); !strings.HasPrefix(got, "input status") {
		t.Errorf("behind the skip link comes %q", got)
	}
	if value[string](b, `getComputedStyle(document.querySelector(".pill input:focus + span")).outlineStyle`) == "none" {
		t.Error("the focus is not seen")
	}
	b.press("/")
	if got := b.focused(); got != "input type" {
		t.Errorf("/ leads to %q", got)
	}
	b.run(`document.activeElement.value = ""`) // a driven browser types the key all the same
	b.press("stripe.charge.refunded" + kb.Enter)
	b.until(`document.readyState === "complete" && location.search.includes("type=stripe.charge.refunded")`)
	b.sees("1 found")
	b.focus(`a[href*="` + e.ID + `"]`)
	b.press(kb.Enter)
	b.sees("Why it is dead")
	b.focus(".confirm summary")
	b.press(kb.Enter)
	b.sees("Runs again, though it completed")
	b.press(kb.Escape)
	if value[bool](b, `!!document.querySelector(".confirm[open]")`) || b.focused() != "summary restart…" {
		t.Errorf("Escape closes nothing; focused is %q", b.focused())
	}
}

// jsonString is text as JSON.
func jsonString(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// hostile are texts that do harm where they are not handled with care.
var hostile = []string{
	`<script>window.hacked = 1</script>`,
	`"><img src=x onerror="window.hacked=1">`,
	`</pre></details><svg onload=window.hacked=1>`,
	`{{.}} ${7*7} javascript:window.hacked=1`,
	"right to left: \u05d0\u05d1\u05d2 \u202egnp.exe\u202c \u2066x\u2069",
	"controls: \x07\x1b[31m \u0000 \ufeff \u200b",
	strings.Repeat("long", 20_000),
	strings.Repeat("𝔘\u0301", 500),
}

func TestHostileTextsAreShownHarmlessly(t *testing.T) {
	shop := openShop(t)
	id := strings.NewReplacer("\x07", "", "\x1b", "", "\u0000", "")
	var executions []restaq.Execution
	for i, text := range hostile {
		payload := []byte(fmt.Sprintf(`{%q:%q,"deep":%s%s}`, "k"+fmt.Sprint(i), "x", strings.Repeat(`[`, 3000), strings.Repeat(`]`, 3000)))
		payload = append(payload[:len(payload)-1], []byte(`,"text":`+jsonString(text)+`,`+jsonString(text)+`:1}`)...)
		name := []rune(id.Replace(text))
		executions = append(executions, shop.wait(t, shop.deliver(t, restaq.Event{
			Type: "stripe.charge.refunded", ID: fmt.Sprint(i, " ", string(name[:min(len(name), 150)])), Source: "s" + string(name[:min(len(name), 40)]), Payload: payload,
			Header: http.Header{"X-Odd": {text}},
		})))
	}
	raw := shop.wait(t, shop.deliver(t, restaq.Event{Type: "stripe.charge.refunded", ID: "raw", Payload: []byte("\x00\xff<script>window.hacked=1</script>\u202e")}))
	b, s := browse(t, shop, phone)
	for _, path := range append(paths(append(executions, raw)), "/", "/executions", "/executions?event=%3Cscript%3E&text=%22%3E%3Cscript%3E") {
		b.open(s, path)
		b.run(`document.querySelectorAll("details").forEach(d => d.open = true)`)
		b.fits(path)
		if got := value[string](b, `String(window.hacked) + document.scripts.length + document.querySelectorAll("main img, main [onload], main [onerror]").length`); got != "undefined10" {
			t.Errorf("%s: %s", path, got)
		}
		if shown := value[string](b, "document.body.innerText"); strings.ContainsAny(shown, "\x00\x07\x1b\u202e\u2066\ufeff\u200b") {
			t.Errorf("%s shows what cannot be seen", path)
		}
	}
	b.open(s, "/executions/"+executions[4].ID)
	b.sees(`\u202egnp.exe`)
}

func paths(all []restaq.Execution) (paths []string) {
	for i := range all {
		paths = append(paths, "/executions/"+all[i].ID)
	}
	return paths
}

// smaller is a picture with 256 colours: a third of the bytes, and no eye sees it.
func smaller(t *testing.T, data []byte) []byte {
	t.Helper()
	full, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	times := make(map[color.Color]int)
	bounds := full.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			times[full.At(x, y)]++
		}
	}
	colors := slices.SortedFunc(maps.Keys(times), func(a, b color.Color) int { return times[b] - times[a] })
	few := image.NewPaletted(bounds, colors[:min(len(colors), 256)])
	draw.Draw(few, bounds, full, bounds.Min, draw.Src)
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&out, few); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestScreenshots takes the pictures of docs/dashboard.md if it is told where to.
func TestScreenshots(t *testing.T) {
	dir := os.Getenv("RESTAQ_SCREENSHOTS")
	shop := openShop(t)
	shop.slow.Store(dir != "")
	shop.fill(t)
	shop.slow.Store(false)
	s := serve(t, shop.rt, dashboard.Config{Title: "demo", Authorize: as("ann", dashboard.Act)})
	dead := shop.deliverRefund(t, "evt_1QKxA7Lkd")
	for _, shot := range []struct {
		name, path string
		dark       bool
		width      int64
		height     int64
	}{
		{"overview", "/", false, 1180, 1010},
		{"executions", "/executions", true, 1180, 760},
		{"execution", "/executions/" + shop.last, false, 1180, 1180},
		{"phone", "/executions/" + dead.ID, true, 390, 844},
	} {
		b := openTab(t, screen{width: shot.width, height: shot.height, dark: shot.dark})
		b.open(s, shot.path)
		b.until(`document.readyState === "complete" && (!document.querySelector("#main").dataset.live || document.querySelector("#live-state.on"))`)
		shown, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(err)
		}
		if dir != "" {
			if err := os.WriteFile(filepath.Join(dir, shot.name+".png"), smaller(t, shown), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
