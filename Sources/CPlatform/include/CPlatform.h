#pragma once

/* The whole module; one header per concern. */
#include "aligned_depth.h"
#include "beneath.h"
#include "files.h"
#include "gray_pixels.h"
#include "jpeg_blocks.h"
#include "literal_bytes.h"
#include "value_runs.h"
#include "niceness.h"
#include "png_guard.h"
#include "process.h"
#include "share.h"
#include "stacks.h"
#include "threads.h"
