package e2e_test

import (
	"fmt"

	"github.com/durabot/durabot/internal/telegramsim"
)

// The chats of a torture.
const (
	people         = 20 // who write, from firstPerson on
	firstPerson    = 1001
	firstRoller    = 1101 // of those to whom the handler answers by chance
	rollers        = 3
	addressees     = 15 // to whom messages are sent, from firstAddressee on
	firstAddressee = 2000
	refusedChat    = 2100 // whose messages Telegram refuses until they are replayed
	boards         = 3    // of each kind, whose one message is edited
	firstTouched   = 3001
	firstDrawn     = 3101
	torturedGroup  = -4001
	firstOfMailing = 5000
	mailed         = 300
)

// fickle are people who block the bot and come back.
var fickle = []int64{firstPerson, firstPerson + 1, firstPerson + 2}

// furnish makes the chats that nobody has started by writing.
func (x *torture) furnish() {
	for i := range int64(addressees) {
		x.CreateChat(telegramsim.Chat{ID: firstAddressee + i})
	}
	x.CreateChat(telegramsim.Chat{ID: refusedChat})
	x.CreateChat(telegramsim.Chat{ID: torturedGroup, Type: "group"})
	for i := range int64(boards) {
		x.touched = append(x.touched, x.board(firstTouched+i))
		x.drawn = append(x.drawn, x.board(firstDrawn+i))
	}
}

// board puts a message of the bot's into a chat.
func (x *torture) board(chat int64) *board {
	x.CreateChat(telegramsim.Chat{ID: chat})
	x.ask(fmt.Sprintf("sendMessage?chat_id=%d&text=board", chat))
	return &board{chat: chat, message: x.Ledger(chat)[0].ID}
}
