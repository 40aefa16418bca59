module github.com/restaq/restaq/bench

go 1.26.0

replace github.com/restaq/restaq => ../

tool (
	github.com/matryer/moq
	golang.org/x/tools/cmd/stringer
)

require (
	github.com/matryer/moq v0.8.1 // indirect
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
)
