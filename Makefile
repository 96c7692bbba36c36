# SPDX-License-Identifier: Apache-2.0
BUILD ?= build
all:
	@test -f $(BUILD)/build.ninja || meson setup $(BUILD)
	@ninja -C $(BUILD)
.PHONY: all
