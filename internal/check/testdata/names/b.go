package names

func RegisterHandlers() {}
