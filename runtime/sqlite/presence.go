package sqlite

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"
)

// presence tells other processes that this one lives. A file beside the
// database has no other use than that each Store keeps one of its bytes locked
// until it is closed; the operating system ends the lock with the process,
// however that ends. A process that is stopped keeps it.
//
// The table restaq_owner says which byte stands for whom. It is written in the
// transaction that first gives a lease to that owner, and the lock is older
// than any Store's first transaction. So whoever finds the row, and the byte
// free, knows that the owner's leases are void. A Store that is closed takes
// its rows away first: its process may live on, and what it left running waits
// for the leases.
//
// A lock proves nothing unless both processes mean the same file, so a row
// names it: by what stands in it, at random, and by its number in the file
// system. After the file was removed, replaced or copied, and where there are
// no locks to rely on, leases run out as everywhere.
type presence struct {
	file *os.File
	name string
	byte int64

	looked atomic.Int64 // when others were last looked for, since began
	began  time.Time
}

const (
	presenceSuffix = "-owners"

	// lookEvery is how often others are looked for at most.
	lookEvery = 100 * time.Millisecond

	// The bytes that are locked stand behind the file's text.
	firstByte, lastByte = 1 << 20, 1 << 40
)

// show begins to show the presence of a Store of the file at path. It returns
// nil where that cannot be.
func show(path string) *presence {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	file, err := openPresence(path)
	if err != nil {
		return nil
	}
	p := &presence{file: file, byte: mathrand.Int64N(lastByte-firstByte) + firstByte, began: time.Now()}
	if !local(file) || p.identify() != nil || lockByte(file, p.byte) != nil || !p.shows() {
		file.Close()
		return nil
	}
	return p
}

// openPresence opens the file, which it makes with the permissions of the
// database if it is not there. It gets its name when it is complete.
func openPresence(path string) (*os.File, error) {
	name := path + presenceSuffix
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if !errors.Is(err, os.ErrNotExist) {
		return file, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	made, err := os.CreateTemp(filepath.Dir(path), filepath.Base(name)+".new-*")
	if err != nil {
		return nil, err
	}
	defer os.Remove(made.Name())
	_, err = io.WriteString(made, rand.Text()+"\n")
	if err := errors.Join(err, made.Chmod(info.Mode().Perm()), made.Close()); err != nil {
		return nil, err
	}
	if err := os.Link(made.Name(), name); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	return os.OpenFile(name, os.O_RDWR, 0)
}

// identify sets the name by which rows mean this file.
func (p *presence) identify() error {
	text := make([]byte, len(rand.Text()))
	if _, err := p.file.ReadAt(text, 0); err != nil {
		return err
	}
	info, err := p.file.Stat()
	if err != nil {
		return err
	}
	p.name = fmt.Sprintf("%s/%d", text, inode(info))
	return nil
}

// shows reports whether another user of the file sees the lock.
func (p *presence) shows() bool {
	other, err := os.OpenFile(p.file.Name(), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer other.Close()
	free, err := byteIsFree(other, p.byte)
	return err == nil && !free
}

// gone reports whether the process that locked a byte has ended.
func (p *presence) gone(byte int64) bool {
	if byte == p.byte {
		return false
	}
	free, err := byteIsFree(p.file, byte)
	return err == nil && free
}

// due reports whether it is time to look for others again.
func (p *presence) due() bool {
	last, now := p.looked.Load(), int64(time.Since(p.began))
	return (last == 0 || now-last >= int64(lookEvery)) && p.looked.CompareAndSwap(last, now)
}

// introduce says, once, which byte stands for an owner that gets a lease.
func (t *tx) introduce(owner string) error {
	p := t.w.presence
	if p == nil || t.w.introduced[owner] {
		return nil
	}
	_, err := t.exec(`INSERT INTO restaq_owner (owner, file, byte) VALUES (?1, ?2, ?3)
		ON CONFLICT (owner) DO UPDATE SET file = ?2, byte = ?3`, owner, p.name, p.byte)
	if err == nil {
		t.w.introduced[owner] = true
	}
	return err
}

// leave takes this Store's rows away, and those that prove nothing any more,
// and then ends its presence. If it cannot, the lock stays until the process
// ends: what is left running here must not be taken for ended.
func (w *writer) leave() {
	if w.presence == nil {
		return
	}
	j := &job{done: make(chan struct{}, 1), run: func(tx *tx) error {
		_, err := tx.exec(`DELETE FROM restaq_owner WHERE file <> ? OR byte = ?`, w.presence.name, w.presence.byte)
		return err
	}}
	if len(w.introduced) > 0 {
		w.patience.Store(min(w.patience.Load(), int64(time.Second)))
		w.commit([]*job{j})
	}
	if j.err == nil {
		w.presence.file.Close()
	}
}

// endOthers makes the leases of ended processes run out.
func (s *Store) endOthers(ctx context.Context) error {
	p := s.writer.presence
	if p == nil || !p.due() {
		return nil
	}
	var gone []string
	err := s.reader.read(ctx, func(query queryFunc) (err error) {
		gone, err = p.ended(query)
		return err
	})
	if err != nil || len(gone) == 0 {
		return err
	}
	return s.writer.do(ctx, func(tx *tx) error {
		gone, err := p.ended(tx.query)
		if err != nil {
			return err
		}
		for _, owner := range gone {
			if err := tx.end(owner); err != nil {
				return err
			}
		}
		return nil
	})
}

// ended returns the owners whose processes have ended.
func (p *presence) ended(query queryFunc) (gone []string, err error) {
	rows, err := query(`SELECT owner, byte FROM restaq_owner WHERE file = ?`, p.name)
	if err != nil {
		return nil, err
	}
	err = each(rows, func() error {
		var owner string
		var byte int64
		err := rows.Scan(&owner, &byte)
		if err == nil && p.gone(byte) {
			gone = append(gone, owner)
		}
		return err
	})
	return gone, err
}

// end makes the leases of an owner run out, whose process has ended and so
// writes no more. What is pending is passed over in the index.
func (t *tx) end(owner string) error {
	now := t.now.UnixMicro()
	_, err := t.exec(`UPDATE restaq_execution INDEXED BY restaq_execution_due SET due_at = ?1
		WHERE due_at > ?1 AND behind = 0 AND status = 'running' AND owner = ?2`, now, owner)
	if err == nil {
		_, err = t.exec(`DELETE FROM restaq_owner WHERE owner = ?`, owner)
	}
	t.w.forget()
	return err
}
