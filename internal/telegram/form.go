package telegram

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

const fileKey = "@file"

// form is a call's params taken apart: plain fields, and files by the name of
// the part that carries them.
type form struct {
	fields []field
	files  []field
}

// field is a name with a text, or with the path of a file.
type field struct{ name, value string }

// parseForm takes params apart, in the order of their names so that a request is
// the same each time.
func parseForm(params json.RawMessage) (form, error) {
	var values map[string]json.RawMessage
	if json.Unmarshal(params, &values) != nil || values == nil {
		return form{}, fmt.Errorf("%w: params: expected a JSON object", ErrInvalidCall)
	}
	var f form
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if err := f.add(name, values[name]); err != nil {
			return form{}, fmt.Errorf("param %q: %w", name, err)
		}
	}
	return f, nil
}

func (f *form) add(name string, raw json.RawMessage) error {
	var text string
	switch {
	case string(raw) == "null":
		return nil
	case raw[0] == '"':
		if err := json.Unmarshal(raw, &text); err != nil {
			return fmt.Errorf("%w: %w", ErrInvalidCall, err)
		}
		f.fields = append(f.fields, field{name, text})
		return nil
	case raw[0] != '{' && raw[0] != '[':
		f.fields = append(f.fields, field{name, string(raw)})
		return nil
	}
	return f.addTree(name, raw)
}

// addTree looks for files in an object or an array. Without any, the bytes go as
// they came.
func (f *form) addTree(name string, raw json.RawMessage) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber() // ids must not pass through a float
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalidCall, err)
	}
	path, err := filePath(tree)
	if err != nil {
		return err
	}
	if path != "" {
		f.files = append(f.files, field{name, path})
		return nil
	}
	before := len(f.files)
	if err := f.replaceFiles(tree); err != nil {
		return err
	}
	if len(f.files) > before {
		raw, err = compact(tree)
	}
	f.fields = append(f.fields, field{name, string(raw)})
	return err
}

// replaceFiles puts attach://fileN in the place of each file below node.
func (f *form) replaceFiles(node any) error {
	switch node := node.(type) {
	case []any:
		for i, child := range node {
			if err := f.replaceFile(child, func(name string) { node[i] = name }); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(node)) {
			if err := f.replaceFile(node[key], func(name string) { node[key] = name }); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *form) replaceFile(child any, put func(string)) error {
	path, err := filePath(child)
	if err != nil {
		return err
	}
	if path == "" {
		return f.replaceFiles(child)
	}
	name := "file" + strconv.Itoa(len(f.files))
	f.files = append(f.files, field{name, path})
	put("attach://" + name)
	return nil
}

// filePath returns the path when node is a file reference, "" when it is
// something else. A half-right reference is an error: sent as it is, Telegram
// would blame the wrong thing.
func filePath(node any) (string, error) {
	object, _ := node.(map[string]any)
	value, ok := object[fileKey]
	if !ok {
		return "", nil
	}
	path, isText := value.(string)
	if !isText || path == "" || len(object) != 1 {
		return "", fmt.Errorf(`%w: expected {"@file":"<path>"} and nothing else in the object`, ErrInvalidCall)
	}
	return path, nil
}

// compact is json.Marshal without HTML escapes, which Telegram need not undo.
func compact(tree any) (json.RawMessage, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(tree); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalidCall, err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
