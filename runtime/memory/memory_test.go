package memory_test

import (
	"testing"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/memory"
	"github.com/restaq/restaq/runtime/storetest"
)

func TestStoreMeetsTheContract(t *testing.T) {
	storetest.Run(t, storetest.Backend{
		Open: func(*testing.T) restaq.Store { return memory.New() },
	})
}
