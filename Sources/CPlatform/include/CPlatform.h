#pragma once

/* The whole room; one header per concern. */
#include "files.h"
#include "niceness.h"
#include "png_guard.h"
#include "process.h"
