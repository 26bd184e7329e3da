// SPDX-License-Identifier: GPL-2.0-or-later

#include "libop/base/op_decimal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DIGITS 4 /* behind the point */
#define SCALE 1e4 /* 10^DIGITS */
/* Up to here a scaled value is off by 1e-7 at most, so only what is nearer than
 * TIE to the middle between two results needs the exact arithmetic of libc. */
#define MAX_SCALED 1e9
#define TIE 1e-6
#define WIDTH 7

/* Write the digits of @number in front of @end, at least @least of them;
 * returns where they begin. */
static char *digits_before(char *end, uint64_t number, int least)
{
	for (; number || least > 0; number /= 10, least--)
		*--end = (char)('0' + number % 10);
	return end;
}

/* Copy what is between @from and @end; returns the length. */
static size_t take_digits(char *buf, const char *from, const char *end)
{
	size_t len = (size_t)(end - from);

	memcpy(buf, from, len);
	buf[len] = '\0';
	return len;
}

size_t op_decimal_u64(char buf[OP_DECIMAL_LEN], uint64_t number)
{
	char digits[OP_DECIMAL_LEN], *end = digits + sizeof(digits);

	return take_digits(buf, digits_before(end, number, 1), end);
}

size_t op_decimal_percent(char buf[OP_DECIMAL_LEN], double value)
{
	char digits[OP_DECIMAL_LEN], *end = digits + sizeof(digits), *from;
	double scaled = value * SCALE, rest;
	uint64_t number = 0;

	if (value >= 0 && scaled < MAX_SCALED && !signbit(value))
		number = (uint64_t)scaled;
	rest = scaled - (double)number;
	if (!(rest < 1) || signbit(value) || fabs(rest - 0.5) < TIE)
		return (size_t)snprintf(buf, OP_DECIMAL_LEN, "%*.*f", WIDTH,
					DIGITS, value);
	number += rest > 0.5;
	from = digits_before(end, number % (uint64_t)SCALE, DIGITS);
	*--from = '.';
	from = digits_before(from, number / (uint64_t)SCALE, 1);
	while (end - from < WIDTH)
		*--from = ' ';
	return take_digits(buf, from, end);
}

size_t op_decimal_hex(char buf[OP_DECIMAL_LEN], uint64_t number, int digits)
{
	int len = number ? (67 - __builtin_clzll(number)) / 4 : 1;

	len = len < digits ? digits : len;
	for (int i = 0; i < len; i++)
		buf[i] = "0123456789abcdef"[number >> 4 * (len - 1 - i) & 15];
	buf[len] = '\0';
	return (size_t)len;
}
