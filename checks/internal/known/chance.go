package known

import "go/types"

// chance are functions whose results differ from one call, process or machine to
// the next.
var chance = table{
	"time":         "Now Since Until",
	"math/rand":    "ExpFloat64 Float32 Float64 Int Int31 Int31n Int63 Int63n Intn NormFloat64 Perm Read Shuffle Uint32 Uint64",
	"math/rand/v2": "ExpFloat64 Float32 Float64 Int Int32 Int32N Int64 Int64N IntN N NormFloat64 Perm Shuffle Uint Uint32 Uint32N Uint64 Uint64N UintN",
	"crypto/rand":  "Int Prime Read Text",
	"crypto/ecdh":  "Curve.GenerateKey", "crypto/ecdsa": "GenerateKey", "crypto/ed25519": "GenerateKey", "crypto/rsa": "GenerateKey", "crypto/mlkem": "GenerateKey*",
	"hash/maphash": "Bytes Comparable MakeSeed String Hash.Sum*",
	"os":           "Environ Expand ExpandEnv Executable Getegid Getenv Geteuid Getgid Getpagesize Getpid Getppid Getuid Getwd Hostname LookupEnv TempDir UserCacheDir UserConfigDir UserHomeDir",
	"syscall":      "Environ Getenv Getpid",
	"runtime":      "GOMAXPROCS NumCPU NumCgoCall NumGoroutine ReadMemStats",
	"sync":         "Map.Load* Map.CompareAnd* Map.Swap Pool.Get",
	"sync/atomic":  "Add* And* CompareAnd* Load* Or* Swap* *.Add *.And *.CompareAnd* *.Load *.Or *.Swap",

	"github.com/google/uuid":                     "New NewDCESecurity NewRandom NewRandomFromReader NewString NewUUID NewV6 NewV7 NewV7FromReader",
	"github.com/gofrs/uuid/...":                  "NewV1 NewV4 NewV6 NewV7 Gen.New*",
	"github.com/satori/go.uuid":                  "NewV1 NewV4",
	"github.com/hashicorp/go-uuid":               "Generate*",
	"github.com/rs/xid":                          "New NewWithTime",
	"github.com/oklog/ulid/...":                  "Make Now DefaultEntropy",
	"github.com/segmentio/ksuid":                 "New NewRandom NewRandomWithTime",
	"github.com/matoous/go-nanoid/...":           "Generate* MustGenerate New* Must* Nanoid",
	"github.com/nrednav/cuid2":                   "Generate",
	"github.com/lucsky/cuid":                     "New Slug",
	"github.com/teris-io/shortid":                "Generate MustGenerate Shortid.*",
	"github.com/sony/sonyflake/...":              "Sonyflake.NextID",
	"github.com/bwmarrin/snowflake":              "Node.Generate",
	"go.mongodb.org/mongo-driver/bson/primitive": "NewObjectID",
	"go.mongodb.org/mongo-driver/v2/bson":        "NewObjectID",
	"go.jetify.com/typeid/...":                   "Generate MustGenerate New WithPrefix",
	"k8s.io/apimachinery/pkg/util/rand":          "Int* Perm String",
	"k8s.io/apimachinery/pkg/util/uuid":          "NewUUID",
	"github.com/jonboulle/clockwork":             "*.Now *.Since",
	"github.com/benbjohnson/clock":               "*.Now *.Since *.Until",
}

// Differs reports whether a function's results differ between two calls.
func Differs(fn *types.Func) bool { return chance.has(fn) }

// waiting are functions that wait, or let something run beside the handler.
var waiting = table{
	"time":                            "After AfterFunc NewTicker NewTimer Sleep Tick Timer.Reset Ticker.Reset",
	"sync":                            "Cond.Wait WaitGroup.Go WaitGroup.Wait",
	"os/signal":                       "Notify*",
	"golang.org/x/sync/errgroup":      "Group.*",
	"golang.org/x/sync/semaphore":     "Weighted.Acquire",
	"golang.org/x/time/rate":          "Limiter.Wait*",
	"github.com/sourcegraph/conc/...": "*",
}

// Waits reports whether a function waits for time or other goroutines, or starts
// one.
func Waits(fn *types.Func) bool { return waiting.has(fn) }

// guards are functions that keep goroutines apart: what they guard changes while
// the program runs.
var guards = table{"sync": "Locker.Lock Mutex.*Lock Once.Do RWMutex.*Lock", "golang.org/x/sync/singleflight": "Group.*"}

// Guards reports whether a function guards what other goroutines change.
func Guards(fn *types.Func) bool { return guards.has(fn) }

var (
	sorting = table{"sort": "*", "slices": "Sort*"}
	sorted  = table{"slices": "Sorted*"}
	ordered = table{"maps": "All Keys Values", "reflect": "Value.MapKeys Value.MapRange", "golang.org/x/exp/maps": "Keys Values"}
)

// Sorts reports whether a function sorts its first argument in place.
func Sorts(fn *types.Func) bool { return sorting.has(fn) }

// Sorted reports whether a function returns in order what it is given in any.
func Sorted(fn *types.Func) bool { return sorted.has(fn) }

// InMapOrder reports whether a function returns something in the order of a map.
func InMapOrder(fn *types.Func) bool { return ordered.has(fn) }
