// Command durabot is the stock bot, which echoes, with every verb of the
// command line.
package main

import "github.com/durabot/durabot"

func main() { durabot.Main(durabot.Echo) }
