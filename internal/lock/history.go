package lock

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Read returns the lock file in a folder, and its text. Without one both are
// empty.
func Read(dir string) (File, []byte, error) {
	data, err := os.ReadFile(filepath.Join(dir, Name))
	if errors.Is(err, fs.ErrNotExist) {
		return File{}, nil, nil
	}
	if err != nil {
		return File{}, nil, err
	}
	f, err := Parse(data)
	return f, data, err
}

// Committed returns the lock files of folders as git's HEAD has them, by folder.
// A folder is left out where that is not to be known, because it is in no
// repository, or git is not there or does not answer: what is on disk has to do
// then. A file that HEAD does not have is an empty one. Problems says, for
// folders left out, what git said, if there is a repository.
func Committed(ctx context.Context, dirs []string) (files map[string]File, problems map[string]error) {
	files, problems = map[string]File{}, map[string]error{}
	roots := map[string][]string{}
	for _, dir := range dirs {
		if root := repository(dir); root != "" {
			roots[root] = append(roots[root], dir)
		}
	}
	for root, dirs := range roots {
		found, err := at(ctx, root, "HEAD", dirs)
		for _, dir := range dirs {
			f, parseErr := Parse(found[dir])
			switch {
			case err != nil:
				problems[dir] = err
			case parseErr != nil:
				problems[dir] = fmt.Errorf("the file that is committed %w", parseErr)
			default:
				files[dir] = f
			}
		}
	}
	return files, problems
}

// At returns the lock files of folders at a revision, by folder. A file that
// the revision does not have is an empty one.
func At(ctx context.Context, revision string, dirs []string) (map[string]File, error) {
	files := map[string]File{}
	known := map[string]bool{}
	for _, dir := range dirs {
		root := repository(dir)
		if root == "" {
			return nil, fmt.Errorf("%s is in no git repository", dir)
		}
		if !known[root] {
			known[root] = true
			if out, err := git(ctx, root, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}"); err != nil {
				return nil, fmt.Errorf("git has no commit %s: fetch it first; %w%s", revision, err, out)
			}
		}
	}
	for root := range known {
		var here []string
		for _, dir := range dirs {
			if repository(dir) == root {
				here = append(here, dir)
			}
		}
		found, err := at(ctx, root, revision, here)
		if err != nil {
			return nil, err
		}
		for _, dir := range here {
			f, err := Parse(found[dir])
			if err != nil {
				return nil, fmt.Errorf("%s at %s %w", filepath.Join(dir, Name), revision, err)
			}
			files[dir] = f
		}
	}
	return files, nil
}

// repository returns the top folder of the git repository that dir is in, "" if
// it is in none.
func repository(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// at returns the texts of the lock files of folders at a revision, all by one
// git process. Those that are not there are left out.
func at(ctx context.Context, root, revision string, dirs []string) (map[string][]byte, error) {
	var asked bytes.Buffer
	for _, dir := range dirs {
		rel, err := filepath.Rel(root, filepath.Join(dir, Name))
		if err != nil {
			return nil, err
		}
		if strings.ContainsRune(rel, '\n') {
			return nil, fmt.Errorf("%q: git is asked line by line", rel)
		}
		fmt.Fprintf(&asked, "%s:%s\n", revision, filepath.ToSlash(rel))
	}
	out, err := git(ctx, root, &asked, "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	found := map[string][]byte{}
	answers := bufio.NewReader(bytes.NewReader(out))
	for _, dir := range dirs {
		line, err := answers.ReadString('\n')
		if err != nil {
			return nil, fmt.Errorf("git cat-file: %w", err)
		}
		if strings.HasSuffix(line, " missing\n") {
			continue
		}
		var object, kind string
		var size int
		if n, _ := fmt.Sscanf(line, "%s %s %d", &object, &kind, &size); n < 3 || kind != "blob" {
			if n == 3 { // a folder of that name
				_, err = io.CopyN(io.Discard, answers, int64(size)+1)
			}
			if err != nil {
				return nil, fmt.Errorf("git cat-file: %w", err)
			}
			continue
		}
		data := make([]byte, size+1) // and a line's end
		if _, err := io.ReadFull(answers, data); err != nil {
			return nil, fmt.Errorf("git cat-file: %w", err)
		}
		found[dir] = bytes.ReplaceAll(data[:size], []byte("\r\n"), []byte("\n"))
	}
	return found, nil
}

// git runs git in a folder and returns what it prints.
func git(ctx context.Context, dir string, stdin io.Reader, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Stdin = stdin
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		said, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, said)
	}
	return out, nil
}
