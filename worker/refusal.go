package worker

import (
	"errors"
	"fmt"

	"go.temporal.io/api/serviceerror"
	"google.golang.org/grpc/codes"
)

// Refusal turns an answer of Temporal that waiting alone does not change into an
// error that says what to do: the namespace is not there, or the credentials are
// not taken. It is nil for every other error. It is for questions about the
// namespace itself: of others, a NotFound may mean what they ask about.
func Refusal(err error, address, namespace string) error {
	var notFound *serviceerror.NotFound
	switch {
	case deleted(err), errors.As(err, &notFound):
		return fmt.Errorf("TEMPORAL_NAMESPACE: no namespace %q at %s: create it with `temporal operator namespace create --namespace %s --retention 168h`; on Temporal Cloud its name is NAME.ACCOUNT",
			namespace, address, namespace)
	case denied(err):
		return fmt.Errorf("TEMPORAL_API_KEY: Temporal at %s refuses these credentials for namespace %q: %w", address, namespace, err)
	}
	return nil
}

// deleted reports the error of a namespace that is not there, or not any more.
func deleted(err error) bool {
	var missing *serviceerror.NamespaceNotFound
	var going *serviceerror.NamespaceInvalidState
	return errors.As(err, &missing) || errors.As(err, &going)
}

// denied reports an error that says that the credentials are not taken.
func denied(err error) bool {
	var denied *serviceerror.PermissionDenied
	return errors.As(err, &denied) || err != nil && serviceerror.ToStatus(err).Code() == codes.Unauthenticated
}
