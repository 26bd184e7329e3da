-- SPDX-License-Identifier: GPL-2.0-or-later
-- One of the programs of tests/languages/run. alpha calls a function in a loop, beta has
-- tables and strings, gamma sorts by a function.
local bit = require("bit")
local now = os.clock

local function leaf_hash(x, n)
	for i = 1, n do
		x = bit.bxor(x, bit.lshift(x, 13))
		x = bit.bxor(x, bit.rshift(x, 7))
		x = bit.bxor(x, bit.lshift(x, 17))
		x = bit.tobit(x + i)
	end
	return x
end

local function alpha(x)
	local sum = 3
	for i = 1, 60 do
		sum = bit.tobit(sum + leaf_hash(x + i, 33000))
	end
	return sum
end

local function leaf_count(x)
	local counts = {}
	for i = 0, 3999 do
		local key = "k" .. ((x + i * 7919) % 1500)
		counts[key] = (counts[key] or 0) + i
	end
	return x
end

local function beta(x)
	local sum = 0
	for i = 1, 4 do
		sum = sum + leaf_count(x + i)
	end
	return sum % 1000
end

local function less(a, b)
	return a < b
end

local function gamma(x)
	local values = {}
	for i = 1, 5000 do
		values[i] = (i * 2654435761 + x) % 65537
	end
	table.sort(values, less)
	return values[5]
end

local spent, sum, rounds = { 0, 0, 0 }, 1, 0
while now() < tonumber(arg[1] or 1) do
	local t0 = now()
	sum = bit.tobit(sum + alpha(sum))
	local t1 = now()
	sum = bit.tobit(sum + beta(sum))
	local t2 = now()
	sum = bit.tobit(sum + gamma(sum))
	spent[1] = spent[1] + t1 - t0
	spent[2] = spent[2] + t2 - t1
	spent[3] = spent[3] + now() - t2
	rounds = rounds + 1
end
print("sum", sum)
print(string.format("alpha %f beta %f gamma %f cpu %f rounds %d", spent[1], spent[2],
	spent[3], now(), rounds))
