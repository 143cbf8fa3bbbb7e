package load

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/miekg/dns"
)

// columns are a record's fields in a file, one line a question.
var columns = []string{"seq", "client", "intended", "sent", "ended", "outcome", "rcode", "server", "node",
	"attempts", "resets", "via", "port", "name", "type", "error"}

// Writer writes records as CSV while a run is under way. Its Write fits
// Config.Record. The lines are in the order in which the questions ended.
type Writer struct {
	csv *csv.Writer
	row []string
	err error
}

// NewWriter makes a writer. Nothing is written before the first record, or Close.
func NewWriter(w io.Writer) *Writer { return &Writer{csv: csv.NewWriter(w)} }

// Write writes one record. The first error is kept for Close, and ends the
// writing.
func (w *Writer) Write(r Record) {
	w.head()
	if w.err == nil {
		w.row = r.fields(w.row[:0])
		w.err = w.csv.Write(w.row)
	}
}

// Close writes what is buffered and returns the first error of all. It does not
// close what is written to.
func (w *Writer) Close() error {
	w.head()
	w.csv.Flush()
	if w.err == nil {
		w.err = w.csv.Error()
	}
	if w.err != nil {
		return fmt.Errorf("failed to write records: %w", w.err)
	}
	return nil
}

// head writes the names of the columns, once.
func (w *Writer) head() {
	if w.row == nil {
		w.row = make([]string, 0, len(columns))
		w.err = w.csv.Write(columns)
	}
}

// fields appends the record's fields in the order of columns.
func (r Record) fields(row []string) []string {
	return append(row, strconv.Itoa(r.Seq), strconv.Itoa(r.Client), stamp(r.Intended), stamp(r.Sent),
		stamp(r.Ended), string(r.Outcome), strconv.Itoa(r.Rcode), r.Server, r.Node,
		strconv.Itoa(r.Attempts), strconv.Itoa(r.Resets), string(r.Via), strconv.Itoa(r.Port),
		r.Name, typeName(r.Type), r.Error)
}

// stamp spells a time to the nanosecond in UTC; "" if there is none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// typeName is a record type's name, or its number as RFC 3597 section 5 has it.
func typeName(t uint16) string {
	if s, ok := dns.TypeToString[t]; ok {
		return s
	}
	return fmt.Sprintf("TYPE%d", t)
}

// ReadCSV reads what a Writer wrote, and returns the records in the order of
// intended times (that of their numbers). An error names the line.
func ReadCSV(r io.Reader) ([]Record, error) {
	in := csv.NewReader(r)
	in.ReuseRecord, in.FieldsPerRecord = true, len(columns)
	head, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("failed to read records: %w", err)
	}
	if !slices.Equal(head, columns) {
		return nil, fmt.Errorf("failed to read records: line 1: columns %q: must be %q", head, columns)
	}
	var all []Record
	known := map[string]string{}
	for {
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("failed to read records: %w", err)
		}
		p := parser{row: row, known: known}
		rec := p.record()
		if p.err != nil {
			line, _ := in.FieldPos(0)
			return nil, fmt.Errorf("failed to read records: line %d: %w", line, p.err)
		}
		all = append(all, rec)
	}
	slices.SortStableFunc(all, func(a, b Record) int { return a.Seq - b.Seq })
	return all, nil
}
