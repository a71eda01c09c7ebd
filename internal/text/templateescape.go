package text

import (
	"fmt"
	"strings"
	"text/template/parse"
)

// escaper is the function through which everything goes that a place prints.
const escaper = "escaped"

// escapes are those of the parse modes, in lower case.
var escapes = map[string]func(string) string{
	"html":       EscapeHTML,
	"markdownv2": EscapeMarkdown,
	"markdown":   strings.NewReplacer("_", `\_`, "*", `\*`, "`", "\\`", "[", `\[`).Replace,
}

// printed is an escape of whatever a place prints.
func printed(escape func(string) string) func(any) string {
	return func(value any) string {
		if escape == nil {
			return fmt.Sprint(value)
		}
		return escape(fmt.Sprint(value))
	}
}

// escapeNode puts the escape behind every place that prints, so that functions and
// comparisons see the fields as they are.
func escapeNode(node parse.Node) {
	switch n := node.(type) {
	case *parse.ListNode:
		if n != nil {
			for _, inner := range n.Nodes {
				escapeNode(inner)
			}
		}
	case *parse.ActionNode:
		if len(n.Pipe.Decl) == 0 {
			last := &parse.CommandNode{NodeType: parse.NodeCommand, Pos: n.Pos, Args: []parse.Node{parse.NewIdentifier(escaper).SetPos(n.Pos)}}
			n.Pipe.Cmds = append(n.Pipe.Cmds, last)
		}
	case *parse.IfNode:
		escapeBranches(&n.BranchNode)
	case *parse.RangeNode:
		escapeBranches(&n.BranchNode)
	case *parse.WithNode:
		escapeBranches(&n.BranchNode)
	}
}

func escapeBranches(n *parse.BranchNode) {
	escapeNode(n.List)
	escapeNode(n.ElseList)
}
