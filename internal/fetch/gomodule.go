package fetch

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
)

// fromGo downloads a Go module to the go command's cache, which checks it.
func (p Package) fromGo(ctx context.Context) (string, error) {
	outside, err := os.MkdirTemp("", "restaq-fetch-") // of any module
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(outside)
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", p.Name+"@"+p.Version)
	cmd.Dir = outside
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GO111MODULE=on", "GOWORK=off")
	out, err := cmd.Output()
	var got struct{ Dir, Sum, Error string }
	if json.Unmarshal(out, &got) == nil && got.Error != "" {
		return "", fmt.Errorf("go mod download: %s", got.Error)
	}
	if err != nil {
		return "", fmt.Errorf("go mod download: %w%s", err, stderr(err))
	}
	if got.Sum != p.Sum {
		return "", fmt.Errorf("checksum %s, want %s", got.Sum, p.Sum)
	}
	return got.Dir, nil
}

// stderr returns what a failed command said.
func stderr(err error) string {
	if failed, ok := err.(*exec.ExitError); ok && len(failed.Stderr) > 0 {
		return ": " + string(failed.Stderr)
	}
	return ""
}
