/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fixed amount of work for an emulated processor: loads, stores, arithmetic,
 * branches and calls.  It boots by the multiboot protocol and ends the emulator
 * by its isa-debug-exit device.
 */
#define ROUNDS	150000000

	.section .multiboot, "a"
	.long 0x1badb002, 0, -0x1badb002	/* magic, flags, checksum */

	.text
	.globl _start
_start:
	movl $stack, %esp
	movl $ROUNDS, %ecx
	xorl %eax, %eax
1:	movl %ecx, %edx
	andl $0xfffc, %edx
	addl table(%edx), %eax
	roll $7, %eax
	movl %eax, table(%edx)
	call mix
	decl %ecx
	jnz 1b
	movl $0xf4, %edx
	xorl %eax, %eax
	outl %eax, %dx
2:	hlt
	jmp 2b

mix:	xorl %ecx, %eax
	ret

	.bss
	.balign 16
table:	.skip 0x10000
	.skip 4096
stack:
