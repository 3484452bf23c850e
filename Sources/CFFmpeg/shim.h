#pragma once
#include <errno.h>
#include <libavcodec/avcodec.h>
#include <libavcodec/bsf.h>
#include <libavformat/avformat.h>
#include <libavutil/display.h>
#include <libavutil/imgutils.h>
#include <libavutil/log.h>
#include <libavutil/mem.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>

/* Macros of FFmpeg that Swift does not see. */
static inline int scanmill_averror_eagain(void) { return AVERROR(EAGAIN); }
static inline int scanmill_averror_eof(void) { return AVERROR_EOF; }
static inline int scanmill_averror_invaliddata(void) { return AVERROR_INVALIDDATA; }
static inline int scanmill_averror_exit(void) { return AVERROR_EXIT; }
static inline int scanmill_averror_errno(int e) { return AVERROR(e); }
static inline int64_t scanmill_nopts(void) { return AV_NOPTS_VALUE; }
