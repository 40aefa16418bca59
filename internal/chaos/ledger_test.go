//go:build linux

package chaos

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// entry is one line of the ledger. Its order in the file is the order of the
// writes, whichever process made them.
type entry struct {
	What      string    `json:"what"`
	Worker    string    `json:"worker"`
	Execution string    `json:"execution,omitempty"`
	Attempt   int       `json:"attempt,omitempty"`
	Step      string    `json:"step,omitempty"`
	Value     string    `json:"value,omitempty"` // what the step, or its wrapper, returned
	Text      string    `json:"text,omitempty"`
	At        time.Time `json:"at"`
}

// What the workers say.
const (
	began    = "began"    // a step's function has started
	returned = "returned" // a step's function is about to return Value
	recorded = "recorded" // a step's wrapper has returned Value
	refused  = "refused"  // a step's wrapper has returned the error Text
	dying    = "dying"    // the process kills itself at the fail point Text
	drained  = "drained"  // Run has returned nil
)

// ledger is what the steps did, in a file. A line is one write to a file
// opened for appending, so lines of several processes do not mix, and a process
// killed after the write has written it.
type ledger struct{ file *os.File }

func openLedger(name string) (*ledger, error) {
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	return &ledger{file}, nil
}

// write ends the process if the ledger cannot be written: without it, nothing
// is shown.
func (l *ledger) write(e entry) {
	e.At = time.Now().UTC()
	line, err := json.Marshal(e)
	if err == nil {
		_, err = l.file.Write(append(line, '\n'))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "write ledger:", err)
		os.Exit(4)
	}
}

// readLedger returns all entries. The last line may be half there, if a writer
// is at it.
func readLedger(name string) ([]entry, error) {
	data, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	var all []entry
	for line := range bytes.Lines(data) {
		if line[len(line)-1] != '\n' {
			break
		}
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("read ledger: line %d: %w", len(all)+1, err)
		}
		all = append(all, e)
	}
	return all, nil
}
