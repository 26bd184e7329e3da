// Makes a text, and finds its most frequent words and the longest of them.
#include <algorithm>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <vector>

static std::string make_text(unsigned int words)
{
	std::ostringstream text;
	unsigned int seed = 1;

	for (unsigned int i = 0; i < words; i++) {
		seed = seed * 1103515245 + 12345;
		text << "word" << (seed >> 16) % 5000 << ' ';
	}
	return text.str();
}

static std::vector<std::string> split(const std::string &text)
{
	std::istringstream in(text);
	std::vector<std::string> words;
	std::string word;

	while (in >> word)
		words.push_back(word);
	return words;
}

using Counts = std::map<std::string, unsigned int>;
using Word = std::pair<std::string, unsigned int>;

static Counts count(const std::vector<std::string> &words)
{
	Counts counts;

	for (const std::string &word : words)
		counts[word]++;
	return counts;
}

static bool is_more_frequent(const Word &a, const Word &b)
{
	return a.second != b.second ? a.second > b.second : a.first < b.first;
}

static std::vector<Word> rank(const Counts &counts)
{
	std::vector<Word> ranked(counts.begin(), counts.end());

	std::sort(ranked.begin(), ranked.end(), is_more_frequent);
	return ranked;
}

int main()
{
	size_t longest = 0;

	for (int round = 0; round < 12; round++) {
		auto words = split(make_text(200000));
		for (auto &entry : rank(count(words)))
			longest = std::max(longest, entry.first.size());
	}
	printf("%zu\n", longest);
}
