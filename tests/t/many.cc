// SPDX-License-Identifier: GPL-2.0-or-later
/* A program in which much is inlined: templates of the library, lambdas, static
 * functions and those of a namespace without a name. */

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>
#ifdef LONG_NAMES
#include "long_names.h"
#endif
namespace a
{
namespace
{
inline int twice(int x)
{
	return 2 * x;
}
struct box {
	int v;
	int get() const
	{
		return twice(v);
	}
};
} // namespace
} // namespace a
static inline int clamp(int x)
{
	return x < 0 ? 0 : x > 99 ? 99 : x;
}
int main(int argc, char **)
{
	std::vector<int> v(1000 * argc);
#ifdef LONG_NAMES
	extern struct long_names long_names;
	v[0] = sizeof(&long_names);
#endif
	std::map<std::string, int> m;
	std::iota(v.begin(), v.end(), 0);
	std::sort(v.begin(), v.end(),
		  [](int x, int y) { return clamp(x) > y; });
	for (int x : v)
		m[std::to_string(a::box{ x }.get())] += x;
	return (int)m.size() & 1;
}
