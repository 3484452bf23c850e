#pragma once

/* The whole room; one header per concern. */
#include "files.h"
#include "png_guard.h"
#include "process.h"
