package classfile_test

import "errors"

var errDiffers = errors.New("what was written differs from what was read")
