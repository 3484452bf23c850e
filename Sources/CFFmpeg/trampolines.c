#include "trampolines.h"

/*
 * Each function of the list is a jump through a pointer of its own. At first all pointers lead to
 * scanmill_ffmpeg_first, which loads the library of the function, keeps the arguments, and jumps again.
 *
 * Hidden: the libraries call each other's functions, never ours of the same name.
 */

#define TEXT(...) #__VA_ARGS__

#if defined(__x86_64__)

/* r11 may be overwritten between a call and the first instruction of what is called. */
#define JUMP(place) "leaq " place "(%rip), %r11\n jmpq *(%r11)\n"

__asm__(
  ".text\n .p2align 4\n .hidden scanmill_ffmpeg_first\n .globl scanmill_ffmpeg_first\n"
  ".type scanmill_ffmpeg_first,@function\n"
  "scanmill_ffmpeg_first:\n .cfi_startproc\n"
  " pushq %rbp\n .cfi_def_cfa_offset 16\n .cfi_offset %rbp, -16\n"
  " movq %rsp, %rbp\n .cfi_def_cfa_register %rbp\n"
  " pushq %rdi\n pushq %rsi\n pushq %rdx\n pushq %rcx\n pushq %r8\n pushq %r9\n"
  " pushq %rax\n pushq %r11\n"
  " subq $128, %rsp\n"
  " movups %xmm0, (%rsp)\n movups %xmm1, 16(%rsp)\n movups %xmm2, 32(%rsp)\n"
  " movups %xmm3, 48(%rsp)\n movups %xmm4, 64(%rsp)\n movups %xmm5, 80(%rsp)\n"
  " movups %xmm6, 96(%rsp)\n movups %xmm7, 112(%rsp)\n"
  " movq %r11, %rdi\n"
  " call scanmill_ffmpeg_require\n"
  " movups (%rsp), %xmm0\n movups 16(%rsp), %xmm1\n movups 32(%rsp), %xmm2\n"
  " movups 48(%rsp), %xmm3\n movups 64(%rsp), %xmm4\n movups 80(%rsp), %xmm5\n"
  " movups 96(%rsp), %xmm6\n movups 112(%rsp), %xmm7\n"
  " addq $128, %rsp\n"
  " popq %r11\n popq %rax\n"
  " popq %r9\n popq %r8\n popq %rcx\n popq %rdx\n popq %rsi\n popq %rdi\n"
  " popq %rbp\n .cfi_def_cfa %rsp, 8\n"
  " jmpq *(%r11)\n .cfi_endproc\n"
  ".size scanmill_ffmpeg_first, .-scanmill_ffmpeg_first\n");

#elif defined(__aarch64__)

/* x16 and x17 may be overwritten between a call and the first instruction of what is called. */
#define JUMP(place) \
  "adrp x16, " place "\n add x16, x16, :lo12:" place "\n ldr x17, [x16]\n br x17\n"

__asm__(
  ".text\n .p2align 4\n .hidden scanmill_ffmpeg_first\n .globl scanmill_ffmpeg_first\n"
  ".type scanmill_ffmpeg_first,%function\n"
  "scanmill_ffmpeg_first:\n .cfi_startproc\n"
  " stp x29, x30, [sp, #-224]!\n .cfi_def_cfa_offset 224\n"
  " .cfi_offset x29, -224\n .cfi_offset x30, -216\n"
  " mov x29, sp\n"
  " stp x0, x1, [sp, #16]\n stp x2, x3, [sp, #32]\n stp x4, x5, [sp, #48]\n"
  " stp x6, x7, [sp, #64]\n stp x8, x16, [sp, #80]\n"
  " stp q0, q1, [sp, #96]\n stp q2, q3, [sp, #128]\n stp q4, q5, [sp, #160]\n"
  " stp q6, q7, [sp, #192]\n"
  " mov x0, x16\n"
  " bl scanmill_ffmpeg_require\n"
  " ldp q6, q7, [sp, #192]\n ldp q4, q5, [sp, #160]\n ldp q2, q3, [sp, #128]\n"
  " ldp q0, q1, [sp, #96]\n"
  " ldp x8, x16, [sp, #80]\n ldp x6, x7, [sp, #64]\n ldp x4, x5, [sp, #48]\n"
  " ldp x2, x3, [sp, #32]\n ldp x0, x1, [sp, #16]\n"
  " ldp x29, x30, [sp], #224\n .cfi_restore x29\n .cfi_restore x30\n .cfi_def_cfa_offset 0\n"
  " ldr x17, [x16]\n br x17\n .cfi_endproc\n"
  ".size scanmill_ffmpeg_first, .-scanmill_ffmpeg_first\n");

#else
#error "FFmpeg's functions cannot be called through pointers on this processor yet: add it here"
#endif

#define F(library, function) \
  void *scanmill_at_##function __attribute__((visibility("hidden"))) = (void *)scanmill_ffmpeg_first; \
  __asm__( \
    ".text\n .p2align 4\n .hidden " TEXT(function) "\n .globl " TEXT(function) "\n" \
    ".type " TEXT(function) ", %function\n" TEXT(function) ":\n .cfi_startproc\n" \
    JUMP("scanmill_at_" TEXT(function)) \
    ".cfi_endproc\n .size " TEXT(function) ", .-" TEXT(function) "\n");
#include "functions.h"
#undef F
