package starter_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

func readAudience(t require.TestingT, file string) *starter.Audience {
	a, err := starter.ReadAudience(strings.NewReader(file))
	require.NoError(t, err)
	require.Len(t, a.Lines, len(a.Recipients))
	require.Equal(t, a.Rows, len(a.Recipients)+a.Duplicates+a.InvalidRows)
	return a
}

// chats is recipients without fields.
func chats(names ...string) []contract.Recipient {
	var all []contract.Recipient
	for _, name := range names {
		all = append(all, contract.Recipient{Chat: name})
	}
	return all
}

func TestEachFormOfAnAudienceIsRead(t *testing.T) {
	t.Parallel()
	ann := contract.Recipient{Chat: "1", Fields: map[string]string{"name": "Ann", "n": "1.50"}}
	for file, want := range map[string]starter.Audience{
		"":                        {},
		"\n# nobody\n":            {},
		"1\n-1001\n@Public_name1": {Recipients: chats("1", "-1001", "@Public_name1"), Lines: []int{1, 2, 3}, Rows: 3},
		"\ufeff# people\r\n\r\n 1 \r\n\t\r\n#2\r\n3": {Recipients: chats("1", "3"), Lines: []int{3, 6}, Rows: 2},
		"chat_id\n1\n\n2\n":                          {Recipients: chats("1", "2"), Lines: []int{2, 4}, Rows: 2},
		"\"1\"\n\"@name\"\n2":                        {Recipients: chats("1", "@name", "2"), Lines: []int{1, 2, 3}, Rows: 3},
		"chat_id,name,n\r\n1,Ann,1.50\r\n":           {Recipients: []contract.Recipient{ann}, Lines: []int{2}, Rows: 1},
		"\ufeffn;\"Chat\"; name \n1.50;1;Ann":        {Recipients: []contract.Recipient{ann}, Lines: []int{2}, Rows: 1},
		"# from the shop\nname\tID\tn\nAnn\t1\t1.50": {Recipients: []contract.Recipient{ann}, Lines: []int{3}, Rows: 1},
		"chat_id,name,n,\n,,,\n1,Ann,1.50,\n,\n":     {Recipients: []contract.Recipient{ann}, Lines: []int{3}, Rows: 1},
		`{"chat_id":1,"name":"Ann","n":1.50}`:        {Recipients: []contract.Recipient{ann}, Lines: []int{1}, Rows: 1},
		"\n\n{\"n\":1.50,\"name\":\"Ann\",\"id\":\"1\",\"none\":null}\n2\n\"3\"": {
			Recipients: append([]contract.Recipient{ann}, chats("2", "3")...), Lines: []int{3, 4, 5}, Rows: 3,
		},
	} {
		require.Equal(t, want, *readAudience(t, file), file)
	}
}

func TestAChatIdGoesBeforeTheOtherNamesOfIt(t *testing.T) {
	t.Parallel()
	want := []contract.Recipient{{Chat: "1", Fields: map[string]string{"id": "2", "chat": "3"}}}
	for _, file := range []string{"id,chat,chat_id\n2,3,1", `{"id":2,"chat":3,"chat_id":1}`} {
		require.Equal(t, want, readAudience(t, file).Recipients)
	}
}

func TestValuesOfJSONAreFieldsAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	a := readAudience(t, `{"chat_id":1,"a":12345678901234567890,"b":1e3,"c":true,"d":"x\ny","e":null,"f":""}`)
	require.Equal(t, map[string]string{"a": "12345678901234567890", "b": "1e3", "c": "true", "d": "x\ny", "f": ""}, a.Recipients[0].Fields)
}

func TestAQuotedValueOfSeveralLinesLeavesTheLineNumbersRight(t *testing.T) {
	t.Parallel()
	a := readAudience(t, "# c\nchat_id,text\n1,\"a\n\nb, \"\"c\"\"\"\n\nx,y\n2,z")
	require.Equal(t, []int{3, 8}, a.Lines)
	require.Equal(t, "a\n\nb, \"c\"", a.Recipients[0].Fields["text"])
	require.Equal(t, 7, a.Invalid[0].Line)
	a = readAudience(t, "# c\nchat_id,text\n1,\"a\n\"\n2,b\"\n3,\n4")
	require.Equal(t, []int{3, 6}, a.Lines)
	require.Equal(t, []int{5, 7}, []int{a.Invalid[0].Line, a.Invalid[1].Line})
}

func TestRowsThatCannotBeUsedAreCollectedWithTheirLines(t *testing.T) {
	t.Parallel()
	const neither = " is neither the id of a chat nor an @name of 4 to 32 letters, digits and _"
	const shortened = " is a number as spreadsheets shorten it: format the column as whole numbers, and export it again"
	for row, why := range map[string]string{
		"0":                            "0 is no chat",
		"1.23E+09":                     `"1.23E+09"` + shortened,
		"1,23E+09":                     `"1,23E+09"` + shortened,
		"123.0":                        `"123.0"` + shortened,
		"-1e9":                         `"-1e9"` + shortened,
		"9223372036854775808":          `"9223372036854775808"` + neither,
		"+491701234567":                `"+491701234567"` + neither,
		"007":                          `"007"` + neither,
		"@abc":                         `"@abc"` + neither,
		"@" + strings.Repeat("n", 60):  `"@` + strings.Repeat("n", 39) + `"` + neither,
		"t.me/name":                    `"t.me/name"` + neither,
		"name":                         `"name"` + neither,
		"\xff":                         "it is not in UTF-8: save the file as UTF-8",
		`"1`:                           "it is no JSON string",
		`""`:                           "it names no chat",
		`{"chat_id":1`:                 "it is no JSON object",
		`{"name":"x"}`:                 "it has no chat_id",
		`{"chat_id":null}`:             "it names no chat",
		`{"chat_id":1.5e9}`:            `"1.5e9"` + shortened,
		`{"chat_id":1,"b":[1],"a":{}}`: `"a" is nested: want a text, a number, true or false`,
	} {
		a := readAudience(t, "1\n\n"+row+"\n2")
		require.Equal(t, []starter.InvalidRow{{Line: 3, Why: why}}, a.Invalid, row)
		require.Equal(t, chats("1", "2"), a.Recipients)
	}
	for row, why := range map[string]string{
		"2":        "want 2 columns as in the header line, got 1",
		"2,a,b":    "want 2 columns as in the header line, got 3",
		"2,a\"b":   "its quotes do not match, and rows behind it may have been read as a part of it",
		",a":       "it names no chat",
		"2,\xe9":   "it is not in UTF-8: save the file as UTF-8",
		"#2,a":     `"#2"` + neither,
		"1.5E+8,a": `"1.5E+8"` + shortened,
	} {
		a := readAudience(t, "chat_id,name\n1,x\n"+row+"\n3,y\n")
		require.Equal(t, []starter.InvalidRow{{Line: 3, Why: why}}, a.Invalid, row)
		require.Len(t, a.Recipients, 2)
	}
}

func TestOfInvalidRowsAThousandAreTold(t *testing.T) {
	t.Parallel()
	a := readAudience(t, strings.Repeat("x\n", 1500))
	require.Equal(t, 1500, a.InvalidRows)
	require.Len(t, a.Invalid, 1000)
	require.Equal(t, 1000, a.Invalid[999].Line)
}

func TestTheFirstRowOfAChatStays(t *testing.T) {
	t.Parallel()
	a := readAudience(t, "chat_id,n\n1,a\n@Name,b\n1,c\n@nAME,d\n2,e")
	require.Equal(t, 2, a.Duplicates)
	require.Equal(t, []int{2, 3, 6}, a.Lines)
	require.Equal(t, contract.Recipient{Chat: "@Name", Fields: map[string]string{"n": "b"}}, a.Recipients[1])
}

func TestAFileInNoneOfTheFormsIsAnErrorWithItsLine(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"\n1,Ann\n2,Bob":                     "line 2: there are several columns: want a header line in which one is named chat_id, chat or id",
		"chat_id,a,b,a\n1,2,3,4":             `line 1: two columns have the name "a"`,
		"chat_id,\"a\n1,2":                   "line 1: the header line cannot be read as CSV: its quotes do not match",
		"[\n{\"chat_id\":1}]":                "line 1: the audience is a JSON array: want an object a line, as `jq -c '.[]'` makes them",
		"\xff\xfe1\x00":                      "the audience is in UTF-16: save it as UTF-8",
		"1\n" + strings.Repeat("1", 1<<20+1): "line 2: want at most 1048576 bytes in a line",
	} {
		_, err := starter.ReadAudience(strings.NewReader(file))
		require.EqualError(t, err, want)
	}
}

func TestAnAudienceThatCannotBeReadToItsEndIsNone(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	for _, file := range []string{"", "1\n2", "chat_id,n\n1,a\n", "{\"chat_id\":1}\n"} {
		_, err := starter.ReadAudience(io.MultiReader(strings.NewReader(file), iotest.ErrReader(boom)))
		require.ErrorIs(t, err, boom)
	}
}

func TestAChatThatMovedIsReplacedByItsNewPlaceOnce(t *testing.T) {
	t.Parallel()
	a := readAudience(t, "1\n2\n3\n@name\n-5\n4")
	a.Follow(func(chat int64) int64 {
		return map[int64]int64{1: 100, 2: 4, 3: 100, 4: 4}[chat] // -5 is not known: 0
	})
	require.Equal(t, chats("100", "@name", "-5", "4"), a.Recipients)
	require.Equal(t, []int{1, 4, 5, 6}, a.Lines)
	require.Equal(t, 3, a.Moved)
	require.Equal(t, 2, a.Duplicates, "2 is 4, which is there itself, and 3 is where 1 is")
	before := *a
	a.Follow(func(chat int64) int64 { return chat })
	require.Equal(t, before, *a)
}

func BenchmarkReadAudience(b *testing.B) {
	var file strings.Builder
	file.WriteString("chat_id,name,city\n")
	for i := range 100_000 {
		fmt.Fprintf(&file, "%d,Ann %d,\"Paris, France\"\n", 1_000_000_000+i, i)
	}
	for b.Loop() {
		_ = readAudience(b, file.String())
	}
}
