package telemetry

// Break takes the listener away from under the server, as a fault would.
func (s *Server) Break() error { return s.listener.Close() }
