// Package devtest connects tests to a Temporal dev server of their own.
package devtest
