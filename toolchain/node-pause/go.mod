module toolchain/node-pause

go 1.26.0
