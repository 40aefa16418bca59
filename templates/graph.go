package templates

// embedGraph emits the graph of the package's handlers, if it has any. What a
// handler does can change without a change of this code:
//
//	//go:embed restaq.graph.json
//	var restaqGraph string
func (f *file) embedGraph() {
	if len(f.pkg.Handlers()) == 0 {
		return
	}
	f.graph = "restaqGraph"
	for f.pkg.Taken[f.graph] || f.avoid[f.graph] {
		f.graph += "_"
	}
	f.avoid[f.graph] = true
	f.Anon("embed")
	f.Comment("//go:embed " + GraphFile)
	f.Var().Id(f.graph).String()
	f.Line()
}
