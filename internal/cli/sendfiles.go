package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
)

// fileKey marks the object that stands in the place of a file to upload.
const fileKey = "@file"

// withFilesHere makes the paths of files absolute: who sends them stands in
// another directory.
func withFilesHere(params map[string]json.RawMessage) error {
	for name, raw := range params {
		tree, ok := fileTree(raw)
		if !ok {
			continue
		}
		var failure error
		eachFile(tree, func(path string) string {
			absolute, err := filepath.Abs(path)
			if err != nil {
				failure = err
			}
			return absolute
		})
		changed, err := unescaped(tree)
		if err != nil || failure != nil {
			return err
		}
		params[name] = changed
	}
	return nil
}

// missingFiles are the files of a call's parameters that cannot be read here.
// They may be there where the call is made.
func missingFiles(params any) []string {
	raw, _ := params.(json.RawMessage)
	tree, ok := fileTree(raw)
	if !ok {
		return nil
	}
	var missing []string
	eachFile(tree, func(path string) string {
		file, err := os.Open(path) //nolint:gosec // the caller names the file
		if err != nil {
			missing = append(missing, path)
			return path
		}
		_ = file.Close() // it proved what it was for
		return path
	})
	return missing
}

// fileTree is a value that may name files, its numbers as they are written.
func fileTree(raw json.RawMessage) (any, bool) {
	if !bytes.Contains(raw, []byte(fileKey)) {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var tree any
	return tree, dec.Decode(&tree) == nil
}

// eachFile shows the path of each file below a node, and puts what show returns
// in its place.
func eachFile(node any, show func(path string) string) {
	switch node := node.(type) {
	case []any:
		for _, child := range node {
			eachFile(child, show)
		}
	case map[string]any:
		if path, ok := node[fileKey].(string); ok && path != "" {
			node[fileKey] = show(path)
			return
		}
		for _, child := range node {
			eachFile(child, show)
		}
	}
}

// uploads reports whether a call uploads a file.
func uploads(params any) bool {
	raw, _ := params.(json.RawMessage)
	tree, ok := fileTree(raw)
	found := false
	if ok {
		eachFile(tree, func(path string) string { found = true; return path })
	}
	return found
}
