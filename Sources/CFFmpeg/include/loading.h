#pragma once
#include <stddef.h>

/*
 * FFmpeg's libraries depend on some 120 others. Each is loaded, with those before it, when the first of its functions
 * is called, not when the program starts.
 */

enum scanmill_ffmpeg {
  scanmill_avutil,
  scanmill_swscale,
  scanmill_avcodec,
  scanmill_avformat,
  scanmill_ffmpeg_count
};

/*
 * Loads the libraries up to `last` unless they are loaded. Returns NULL, or why they cannot be used: one is missing, or
 * lacks a function. May be called from any thread.
 */
const char *scanmill_ffmpeg_load(enum scanmill_ffmpeg last);

/* Whether a library is loaded. */
int scanmill_ffmpeg_is_loaded(enum scanmill_ffmpeg library);

/* The file name that is loaded: "libavcodec.so." and the major version of the headers. */
const char *scanmill_ffmpeg_name(enum scanmill_ffmpeg library);

/*
 * The version that would be loaded, packed like avcodec_version(), read from file names alone; 0 if
 * they do not determine it: files of several versions, none, or one with another name.
 */
unsigned scanmill_ffmpeg_file_version(enum scanmill_ffmpeg library);
