#pragma once
#include <stddef.h>

/*
 * FFmpeg's libraries bring some 120 others along, which takes the loader 40 ms: they are loaded when the
 * first of their functions is called, not when the program starts.
 */

enum scanmill_ffmpeg {
  scanmill_avutil,
  scanmill_swscale,
  scanmill_avcodec,
  scanmill_avformat,
  scanmill_ffmpeg_count
};

/*
 * Loads them now unless they are loaded. NULL, or why they cannot be used: one is missing, or lacks a
 * function. From any thread.
 */
const char *scanmill_ffmpeg_load(void);

/* Whether they are loaded. */
int scanmill_ffmpeg_is_loaded(void);

/* The file name that is loaded: "libavcodec.so." and the major version that we are compiled for. */
const char *scanmill_ffmpeg_name(enum scanmill_ffmpeg library);

/*
 * The version that would be loaded, packed like avcodec_version(), read from the names of files alone; 0
 * where these do not tell: several of different versions are there, or none, or one of another name.
 */
unsigned scanmill_ffmpeg_file_version(enum scanmill_ffmpeg library);
