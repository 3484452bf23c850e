#pragma once
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <libavcodec/avcodec.h>
#include <libavcodec/bsf.h>
#include <libavformat/avformat.h>
#include <libavutil/display.h>
#include <libavutil/dovi_meta.h>
#include <libavutil/imgutils.h>
#include <libavutil/log.h>
#include <libavutil/mastering_display_metadata.h>
#include <libavutil/mem.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
#include "loading.h"

/* Macros of FFmpeg that Swift does not import. */
static inline int scanmill_averror_eagain(void) { return AVERROR(EAGAIN); }
static inline int scanmill_averror_eof(void) { return AVERROR_EOF; }
static inline int scanmill_averror_invaliddata(void) { return AVERROR_INVALIDDATA; }
static inline int scanmill_averror_exit(void) { return AVERROR_EXIT; }
static inline int scanmill_averror_errno(int e) { return AVERROR(e); }
static inline int64_t scanmill_nopts(void) { return AV_NOPTS_VALUE; }

/*
 * Suppresses FFmpeg's messages. Messages of a codec about damage (errors, concealed blocks) are counted in
 * the two ints that its context's `opaque` points to, if any: all of them in the first; in the second those
 * about the picture itself, but not about missing reference pictures. Decoding threads use copies of the
 * context, which share the counts.
 */
static inline int scanmill_is_about_reference(const char *format) {
  return strncmp(format, "mmco", 4) == 0 || strncmp(format, "Missing reference", 17) == 0
      || strncmp(format, "reference picture missing", 25) == 0 || strncmp(format, "co located", 10) == 0
      || strncmp(format, "number of reference frames", 26) == 0
      || strncmp(format, "Could not find ref", 18) == 0;
}
static inline void scanmill_note_message(void *object, int level, const char *format, va_list arguments) {
  (void)arguments;
  if (object == NULL || level > AV_LOG_INFO)
    return;
  const AVClass *kind = *(const AVClass **)object;
  if (kind == NULL || strcmp(kind->class_name, "AVCodecContext") != 0)
    return;
  int *counts = ((AVCodecContext *)object)->opaque;
  if (counts == NULL || (level > AV_LOG_ERROR && strncmp(format, "concealing", 10) != 0))
    return;
  __atomic_fetch_add(counts, 1, __ATOMIC_RELAXED);
  if (!scanmill_is_about_reference(format))
    __atomic_fetch_add(counts + 1, 1, __ATOMIC_RELAXED);
}
static inline void scanmill_silence(void) { av_log_set_callback(scanmill_note_message); }
static inline int scanmill_message_count(const int *count) { return __atomic_load_n(count, __ATOMIC_RELAXED); }
