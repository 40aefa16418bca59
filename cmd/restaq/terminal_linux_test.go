package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/rogpeppe/go-internal/testscript"
)

func init() { scriptCommands["terminal"] = terminal }

// terminal runs a command on a terminal that is so many characters wide, types
// a line, and prints what the terminal shows.
func terminal(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 3 {
		ts.Fatalf("usage: [!] terminal WIDTH LINE COMMAND ARGS...")
	}
	width, err := strconv.Atoi(args[0])
	ts.Check(err)
	outside, inside, err := openTerminal(uint16(width))
	ts.Check(err)
	defer outside.Close()
	program, err := exec.LookPath(args[2])
	ts.Check(err)
	cmd := exec.Command(program, args[3:]...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "RESTAQ_STORE", "TERM", "NO_COLOR", "COLUMNS", "TMPDIR"} {
		if value := ts.Getenv(name); value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inside, inside, inside
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err = cmd.Start()
	inside.Close()
	ts.Check(err)
	_, err = io.WriteString(outside, args[1]+"\n")
	ts.Check(err)
	var shown bytes.Buffer
	_, err = shown.ReadFrom(outside)
	if err != nil && !errors.Is(err, syscall.EIO) { // which is the end of a terminal
		ts.Check(err)
	}
	err = cmd.Wait()
	fmt.Fprint(ts.Stdout(), strings.ReplaceAll(shown.String(), "\r\n", "\n"))
	if (err != nil) != neg {
		ts.Fatalf("the command ended with %v:\n%s", err, shown.String())
	}
}

// openTerminal opens both sides of a new terminal.
func openTerminal(width uint16) (outside, inside *os.File, err error) {
	outside, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	var number, lock uint32
	size := [4]uint16{50, width}
	for _, request := range []struct {
		code uintptr
		arg  unsafe.Pointer
	}{
		{syscall.TIOCGPTN, unsafe.Pointer(&number)},
		{syscall.TIOCSPTLCK, unsafe.Pointer(&lock)},
		{syscall.TIOCSWINSZ, unsafe.Pointer(&size)},
	} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, outside.Fd(), request.code, uintptr(request.arg)); errno != 0 {
			outside.Close()
			return nil, nil, errno
		}
	}
	inside, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		outside.Close()
	}
	return outside, inside, err
}

func TestATerminalIsAsWideAsItSays(t *testing.T) {
	outside, inside, err := openTerminal(87)
	if err != nil {
		t.Fatal(err)
	}
	defer outside.Close()
	defer inside.Close()
	env := map[string]string{}
	open := func() *output {
		return newOutput(inside, inside, inside, func(key string) string { return env[key] })
	}
	if o := open(); o.width != 87 || !o.color || !o.asks || !o.draws {
		t.Errorf("a terminal gives %+v", o)
	}
	if got, want := open().paint("dead", "dead"), "\x1b[31mdead\x1b[0m"; got != want {
		t.Errorf("paint = %q, want %q", got, want)
	}
	for key, value := range map[string]string{"NO_COLOR": "1", "TERM": "dumb"} {
		env = map[string]string{key: value}
		if open().color {
			t.Errorf("%s=%s does not end colours", key, value)
		}
	}
	env = map[string]string{"COLUMNS": "120"}
	if o := open(); o.width != 120 {
		t.Errorf("COLUMNS=120 gives a width of %d", o.width)
	}
	file, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if o := newOutput(file, file, file, os.Getenv); o.width != 0 || o.color || o.asks || o.draws {
		t.Errorf("a file gives %+v", o)
	}
}
