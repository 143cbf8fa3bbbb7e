package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"recuse/lab/load"
)

// Write keeps a run in a directory of its own, dir/ID, made if need be. The
// records come first and FileRun last, in one step, so a directory that has
// FileRun is whole. Without records (nil) a FileLoad that is there already, as a
// long run writes it on the way, stays. It refuses to replace a run.
func Write(dir string, r Run, records []load.Record) error {
	if err := checkID(r.ID); err != nil {
		return err
	}
	own := filepath.Join(dir, r.ID)
	file := filepath.Join(own, FileRun)
	if _, err := os.Lstat(file); err == nil {
		return fmt.Errorf("failed to write run: %s: is there already: choose another directory, or delete it", file)
	}
	if err := os.MkdirAll(own, 0o755); err != nil {
		return fmt.Errorf("failed to write run: %w", err)
	}
	if records != nil {
		if err := writeRecords(filepath.Join(own, FileLoad), records); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("failed to write %s: %w", file, err)
	}
	return replace(file, append(text, '\n'))
}

// checkID refuses a name that is no plain name of a directory.
func checkID(id string) error {
	if id == "" || id == "." || id == ".." || strings.ContainsAny(id, "/\x00") {
		return fmt.Errorf("id: %q: must be a plain name of a directory", id)
	}
	return nil
}

// writeRecords writes FileLoad.
func writeRecords(file string, records []load.Record) error {
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("failed to write records: %w", err)
	}
	w := load.NewWriter(f)
	for _, r := range records {
		w.Write(r)
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// replace writes a file so that it is seen whole or not at all.
func replace(file string, text []byte) error {
	part := file + ".part"
	if err := os.WriteFile(part, text, 0o644); err != nil {
		return fmt.Errorf("failed to write run: %w", err)
	}
	if err := os.Rename(part, file); err != nil {
		return errors.Join(fmt.Errorf("failed to write run: %w", err), os.Remove(part))
	}
	return nil
}

// Read reads every run in dir, or the one run that dir itself is, in the order
// of their directories' names. Runs that cannot be read are in the error, each
// with its file and the way out, beside the runs that can; other files are left
// alone.
func Read(dir string) ([]Run, error) {
	if _, err := os.Stat(filepath.Join(dir, FileRun)); err == nil {
		r, err := readRun(dir)
		if err != nil {
			return nil, err
		}
		return []Run{r}, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("failed to read runs: %w", err)
	}
	var runs []Run
	var errs []error
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		r, err := readRun(filepath.Join(dir, e.Name()))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		runs = append(runs, r)
	}
	return runs, errors.Join(errs...)
}

// readRun reads the FileRun of one directory.
func readRun(dir string) (Run, error) {
	file := filepath.Join(dir, FileRun)
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return Run{}, fmt.Errorf("failed to read run: %s: is not there: the run was interrupted, or is under way: delete %s and run it again", file, dir)
	}
	if err != nil {
		return Run{}, fmt.Errorf("failed to read run: %w", err)
	}
	r := Run{Dir: dir}
	if err := json.Unmarshal(text, &r); err != nil {
		return Run{}, fmt.Errorf("failed to read run: %s: %w: delete %s and run it again", file, err, dir)
	}
	if r.Scenario == "" {
		return Run{}, fmt.Errorf("failed to read run: %s: scenario: must not be empty: delete %s and run it again", file, dir)
	}
	return r, nil
}

// Records reads the load of a run that Read returned. A run that was left out
// has none.
func (r Run) Records() ([]load.Record, error) {
	if r.LeftOut != "" {
		return nil, nil
	}
	if r.Dir == "" {
		return nil, fmt.Errorf("failed to read records: run %q was not read from a directory", r.ID)
	}
	file := filepath.Join(r.Dir, FileLoad)
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("failed to read records: %w: delete %s and run it again", err, r.Dir)
	}
	defer f.Close()
	records, err := load.ReadCSV(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: delete %s and run it again", file, err, r.Dir)
	}
	return records, nil
}
