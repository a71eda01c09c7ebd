package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// resident is a process's resident memory in MB, and peak the most it ever had.
func resident(pid int) (float64, error) { return memoryOf(pid, "VmRSS:") }

func peak(pid int) (float64, error) { return memoryOf(pid, "VmHWM:") }

func memoryOf(pid int, field string) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := bytes.Cut(status, []byte(field))
	kb, err := strconv.ParseFloat(string(bytes.Fields(append(rest, " 0"...))[0]), 64)
	return kb / 1024, err
}

// used is the CPU time of all of a bot's processes.
func (b *bot) used() (all time.Duration, err error) {
	for _, p := range b.processes {
		one, err := processor(p.Process.Pid)
		if err != nil {
			return 0, err
		}
		all += one
	}
	return all, nil
}

// processor is the CPU time a process has used.
func processor(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := bytes.Cut(stat, []byte(") "))
	fields := bytes.Fields(rest)
	user, err := strconv.Atoi(string(fields[11]))
	if err != nil {
		return 0, err
	}
	system, err := strconv.Atoi(string(fields[12]))
	return time.Duration(user+system) * 10 * time.Millisecond, err // in ticks of 1/100 s
}
