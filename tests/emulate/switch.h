/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* From one stack to another. swapcontext() would do it too, with two system calls each time. */
#ifndef EMULATE_SWITCH_H
#define EMULATE_SWITCH_H

#include <cstddef>
#include <cstdint>

#if defined __x86_64__ && !defined EMULATE_UCONTEXT

extern "C" void emulate_switch(void **from, void *to);
asm(R"(
    .text
    .p2align 4
    .type emulate_switch, @function
emulate_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size emulate_switch, .-emulate_switch
)");

/* A stack on which emulate_switch() begins with begin(). */
static inline void *emulate_new_stack(char *stack, size_t size, void (*begin)())
{
    void **const top = (void **)(stack + size) - 3; /* 8 past a multiple of 16, as after a call */
    top[0] = nullptr;
    top[-1] = (void *)begin;
    for (int i = 2; i <= 7; i++)
        top[-i] = nullptr;
    return top - 7;
}

#else /* anywhere else: slow, but right; -DEMULATE_UCONTEXT to try it */

#include <ucontext.h>

static inline void emulate_switch(void **from, void *to)
{
    ucontext_t here;
    *from = &here;
    swapcontext(&here, (ucontext_t *)to);
}

static inline void *emulate_new_stack(char *stack, size_t size, void (*begin)())
{
    /* The context lies at the top of the stack that it begins. */
    ucontext_t *const context = (ucontext_t *)(((uintptr_t)stack + size - sizeof(ucontext_t)) & ~(uintptr_t)63);
    getcontext(context);
    context->uc_stack.ss_sp = stack;
    context->uc_stack.ss_size = (size_t)((char *)context - stack);
    context->uc_link = nullptr;
    makecontext(context, begin, 0);
    return context;
}

#endif

#endif
