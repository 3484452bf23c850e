#pragma once
#include "png_guard.h"
