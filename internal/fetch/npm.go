package fetch

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// fromNPM downloads a package of the npm registry and unpacks it into the cache.
func (p Package) fromNPM(ctx context.Context) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	parent := filepath.Join(cache, "restaq", "fetched")
	sum := strings.NewReplacer("/", "_", "+", "-").Replace(strings.TrimPrefix(p.Sum, "sha512-"))
	dir := filepath.Join(parent, strings.NewReplacer("/", "+", "@", "").Replace(p.Name)+"-"+p.Version+"-"+sum[:min(12, len(sum))])
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return dir, nil
	}
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", err
	}
	work, err := os.MkdirTemp(parent, ".work-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	archive, err := p.pack(ctx, work)
	if err != nil {
		return "", err
	}
	files := filepath.Join(work, "files")
	if err := unpack(archive, files); err != nil {
		return "", err
	}
	// Another process may have been first, with the same files.
	if err := os.Rename(files, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		if _, stat := os.Stat(dir); stat != nil {
			return "", err
		}
	}
	return dir, nil
}

// pack has npm download the package's archive and checks its sum.
func (p Package) pack(ctx context.Context, work string) ([]byte, error) {
	if _, err := exec.LookPath("npm"); err != nil {
		return nil, errors.New("it comes by npm, which is not on this machine: install npm")
	}
	cmd := exec.CommandContext(ctx, "npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", work, p.Name+"@"+p.Version)
	cmd.Dir = work
	if _, err := cmd.Output(); err != nil {
		return nil, fmt.Errorf("npm pack: %w%s", err, stderr(err))
	}
	found, err := filepath.Glob(filepath.Join(work, "*.tgz"))
	if err != nil || len(found) != 1 {
		return nil, fmt.Errorf("npm pack left %d archives", len(found))
	}
	archive, err := os.ReadFile(found[0])
	if err != nil {
		return nil, err
	}
	digest := sha512.Sum512(archive)
	if got := "sha512-" + base64.StdEncoding.EncodeToString(digest[:]); got != p.Sum {
		return nil, fmt.Errorf("checksum %s, want %s", got, p.Sum)
	}
	return archive, nil
}

// unpack writes the regular files of an archive, without the folder that npm puts
// around them.
func unpack(archive []byte, dir string) error {
	unzipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return err
	}
	for files := tar.NewReader(unzipped); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		_, name, _ := strings.Cut(header.Name, "/")
		if header.Typeflag != tar.TypeReg {
			continue
		}
		if !filepath.IsLocal(name) {
			return fmt.Errorf("the archive has a file %q", header.Name)
		}
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		data, err := io.ReadAll(files)
		if err != nil {
			return err
		}
		if err := os.WriteFile(name, data, 0o644); err != nil {
			return err
		}
	}
}
