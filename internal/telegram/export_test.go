package telegram

import (
	"encoding/json"
	"net/http"
)

// Decode lets the fuzz test reach the decoder without a server between: a server
// would refuse most of the statuses and headers worth trying.
func Decode(token Token, status int, header http.Header, body []byte) (json.RawMessage, *Error) {
	return answer{status, header, body}.result("sendMessage", token)
}

// HiddenForms are the texts that Redact looks for.
func HiddenForms(token Token) []string { return token.parts().hidden }

// MethodNames are the methods of the table, in lower case.
func MethodNames() map[string]Method { return methodTable }
