// Package report turns runs into something to read: Markdown for a terminal or
// a README, and one HTML page that needs nothing else.
//
// table.go puts runs into cells, one for each scenario and setup; timeline.go
// reduces a run's records and events to a picture of bounded size, whatever
// their number; page.go and the templates only lay out what those two made. A
// void run keeps its place and its picture, and is in no figure of the table.
//
// Names and texts come from files, so they are taken as hostile: html/template
// escapes them on the page, words.go for Markdown and terminals.
package report
