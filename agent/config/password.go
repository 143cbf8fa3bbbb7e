package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// maxPassword is the longest password that the kernel takes, in bytes
// (TCP_MD5SIG_MAXKEYLEN).
const maxPassword = 80

// password returns what the file of a password holds.
func (p *parser) password(path string, s *scalar) string {
	name := p.file(path, s, "")
	if name == "" {
		return ""
	}
	text, mode, err := readPassword(name)
	if err != nil {
		p.fail(path, s, "%s", err)
		return ""
	}
	const others = 0o007
	if mode&others != 0 {
		p.warn(path, s, "everybody may read it (mode %04o); chmod o= %s", mode.Perm(), name)
	}
	return text
}

// readPassword returns the one line of a file, without its end, and the mode
// of the file.
func readPassword(name string) (string, fs.FileMode, error) {
	info, err := os.Stat(name)
	if err != nil {
		return "", 0, plain(err)
	}
	if !info.Mode().IsRegular() {
		return "", 0, errors.New("is no regular file")
	}
	f, err := os.Open(name)
	if err != nil {
		return "", 0, plain(err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxPassword+3))
	if err != nil {
		return "", 0, plain(err)
	}
	text := strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r")
	return text, info.Mode(), checkPassword(text)
}

// checkPassword reports what is wrong with a password.
func checkPassword(text string) error {
	switch {
	case text == "":
		return errors.New("the file is empty; its first line is the password")
	case len(text) > maxPassword:
		return fmt.Errorf("the password is longer than %d bytes, the most that TCP MD5 takes", maxPassword)
	case strings.ContainsRune(text, 0):
		return errors.New("the file has a zero byte; its one line is the password")
	case strings.ContainsAny(text, "\r\n"):
		return errors.New("the file has more than one line; its one line is the password")
	}
	return nil
}

// plain returns what the system said of a file, without the operation and the
// path, which are known already.
func plain(err error) error {
	var e *fs.PathError
	if errors.As(err, &e) {
		return fmt.Errorf("cannot be read: %w", e.Err)
	}
	return err
}
