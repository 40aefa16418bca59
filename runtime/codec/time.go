package codec

import "time"

// maxTime is how long a time can be, in bytes.
const maxTime = len("2006-01-02T15:04:05.999999999+15:04")

// putTime writes a time of UTC to the beginning of b as RFC 3339 has it, and
// returns its length, 0 for what has another zone or no year of four digits.
func putTime(b []byte, t time.Time) int {
	year, month, day := t.Date()
	if _, offset := t.Zone(); offset != 0 || uint(year) > 9999 {
		return 0
	}
	hour, minute, second := t.Clock()
	putPair(b, uint64(year/100))
	putPair(b[2:], uint64(year%100))
	b[4] = '-'
	putPair(b[5:], uint64(month))
	b[7] = '-'
	putPair(b[8:], uint64(day))
	b[10] = 'T'
	putPair(b[11:], uint64(hour))
	b[13] = ':'
	putPair(b[14:], uint64(minute))
	b[16] = ':'
	putPair(b[17:], uint64(second))
	n := len("2006-01-02T15:04:05")
	if fraction := uint64(t.Nanosecond()); fraction > 0 {
		b[n] = '.'
		digits := 9
		for ; fraction%10 == 0; fraction /= 10 {
			digits--
		}
		for i := n + digits; i > n; i-- {
			b[i] = '0' + byte(fraction%10)
			fraction /= 10
		}
		n += 1 + digits
	}
	b[n] = 'Z'
	return n + 1
}

// parseTime reads a time of UTC, and the quotes around it, at the beginning of
// b, and returns its length, 0 for what is spelled otherwise or may be none.
func parseTime(b []byte) (time.Time, int) {
	const seconds = len(`"2006-01-02T15:04:05`)
	if len(b) < seconds+len(`Z"`) || b[0] != '"' || b[5] != '-' || b[8] != '-' || b[11] != 'T' || b[14] != ':' || b[17] != ':' {
		return time.Time{}, 0
	}
	century, year, month, day := pair(b[1:]), pair(b[3:]), pair(b[6:]), pair(b[9:])
	hour, minute, second := pair(b[12:]), pair(b[15:]), pair(b[18:])
	if century > 99 || year > 99 || month-1 > 11 || day-1 > 27 || hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, 0
	}
	n, nanoseconds := seconds, 0
	if b[n] == '.' {
		unit := 100_000_000
		for n++; n < len(b) && b[n]-'0' <= 9; n++ {
			nanoseconds += int(b[n]-'0') * unit
			unit /= 10
		}
		if n == seconds+1 || n > seconds+1+9 {
			return time.Time{}, 0
		}
	}
	if len(b) < n+2 || b[n] != 'Z' || b[n+1] != '"' {
		return time.Time{}, 0
	}
	t := time.Date(int(century*100+year), time.Month(month), int(day), int(hour), int(minute), int(second), nanoseconds, time.UTC)
	return t, n + 2
}

// pair is the number of the two digits that b begins with, more than 99 if they
// are none.
func pair(b []byte) uint {
	tens, ones := b[0]-'0', b[1]-'0'
	if tens > 9 || ones > 9 {
		return 100
	}
	return uint(tens)*10 + uint(ones)
}
