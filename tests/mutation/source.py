# SPDX-License-Identifier: GPL-2.0-or-later
"""The mutants of a C file: a lexer, enough of a parser, and the changes."""

import bisect
import collections
import re

TOKEN = re.compile(
    r"""
      (?P<space>   (?:\s|\\\n)+ )
    | (?P<comment> //[^\n]* | /\*.*?\*/ )
    | (?P<string>  (?:u8|[LuU])?"(?:\\.|[^"\\\n])*" )
    | (?P<char>    [LuU]?'(?:\\.|[^'\\\n])*' )
    | (?P<number>  \.?\d(?:[eEpP][+-]|[\w.])* )
    | (?P<name>    [A-Za-z_]\w* )
    | (?P<op>      <<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\|
                   | [-+*/%&|^]= | . )
    """,
    re.VERBOSE | re.DOTALL,
)
DIRECTIVE = re.compile(r"[ \t]*\#(?:\\\n|/\*.*?\*/|[^\n])*", re.DOTALL)

Token = collections.namedtuple("Token", "kind text start end")

CLOSING = {"(": ")", "[": "]", "{": "}"}


def lex(text):
    """The tokens of C code, without comments and preprocessor lines."""
    tokens, at, line_begins = [], 0, True
    while at < len(text):
        if line_begins and (m := DIRECTIVE.match(text, at)):
            at = m.end()
            continue
        m = TOKEN.match(text, at)
        if m.lastgroup == "space":
            line_begins = "\n" in m.group()
        else:
            # After a comment a directive may still follow.
            line_begins = line_begins and m.lastgroup == "comment"
            if m.lastgroup != "comment":
                tokens.append(Token(m.lastgroup, m.group(), at, m.end()))
        at = m.end()
    return tokens


TYPE_WORDS = set(
    """auto bool char const double enum extern float inline int long register
    restrict short signed static struct typedef typeof union unsigned void
    volatile _Alignas _Bool _Noreturn""".split()
)
ASSIGNMENTS = set("= += -= *= /= %= &= |= ^= <<= >>=".split())
ASSERTS = {"assert", "static_assert", "_Static_assert", "BUILD_BUG_ON"}
# Calls that only tell people something.
LOGS = {"op_log", "op_log_plain", "op_verbose", "perror", "warn", "warnx"}
# Calls that only change how much time or memory the rest takes.
HINTS = {"madvise", "mallopt", "op_array_trim", "posix_fadvise", "setpriority"}
# Only a leak checker sees that one of these is missing.
FREES = re.compile(
    r"(.*_)?(free|release)(_.*)?$|closedir$|fts_close$|poptFreeContext$"
)
# More room makes no difference; only AddressSanitizer sees that there is less.
ROOM = set(
    """calloc malloc op_arena_alloc op_array_reserve op_hash_reserve realloc
    reallocarray""".split()
)
# What fails only where memory is short, besides the ones above.
COPIES = set("asprintf mempdup strdup strndup".split())
# With other arguments these give another hash, which is as good.
HASHES = {"op_hash_bytes", "op_hash_mix", "op_hash_text"}

RELATIONS = {
    "<": ["<=", ">="],
    "<=": ["<", ">"],
    ">": [">=", "<="],
    ">=": [">", "<"],
    "==": ["!="],
    "!=": ["=="],
    "&&": ["||"],
    "||": ["&&"],
}
BINARY = {
    "+": ["-"],
    "-": ["+"],
    "*": ["/"],
    "/": ["*"],
    "%": ["/"],
    "&": ["|"],
    "|": ["&"],
    "^": ["|"],
    "<<": [">>"],
    ">>": ["<<"],
    "+=": ["-="],
    "-=": ["+="],
    "*=": ["/="],
    "/=": ["*="],
    "|=": ["&="],
    "&=": ["|="],
    "^=": ["|="],
    "<<=": [">>="],
    ">>=": ["<<="],
}

# An edit of the text: what stands at start..end becomes new.
Edit = collections.namedtuple("Edit", "start end new what")


class Source:
    """The mutants of one file."""

    def __init__(self, name, text, frees=False):
        """frees: AddressSanitizer looks on: leaks and overruns are seen."""
        self.name, self.text, self.frees = name, text, frees
        self.unseen = HASHES if frees else HASHES | ROOM
        self.tokens = lex(text)
        self.lines = [0] + [m.end() for m in re.finditer("\n", text)]
        self.match = self.pair()
        self.edits = []
        self.quiet = set()  # tokens that are not changed
        for begin, end in self.bodies():
            self.block(begin)
            self.operators(begin, end)
        self.edits = sorted(set(self.edits))

    def line_of(self, offset):
        return bisect.bisect_right(self.lines, offset)

    def pair(self):
        match, stack = {}, []
        for i, t in enumerate(self.tokens):
            if t.kind != "op":
                continue
            if t.text in CLOSING:
                stack.append(i)
            elif t.text in ")]}" and stack:
                match[stack[-1]], match[i] = i, stack[-1]
                stack.pop()
        return match

    def bodies(self):
        """(first, last) token of each function's braces."""
        i = 0
        while i < len(self.tokens):
            end = self.match.get(i)
            if end is None or end < i:
                i += 1
                continue
            if self.is_op(i, "{") and i > 0 and self.is_op(i - 1, ")"):
                yield i, end
            i = end + 1

    # Tokens by index; beyond the end there is nothing.

    def text_at(self, i):
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def is_op(self, i, text):
        return self.text_at(i) == text and self.tokens[i].kind == "op"

    def is_name(self, i):
        return 0 <= i < len(self.tokens) and self.tokens[i].kind == "name"

    def spaced(self, i):
        """White space on both sides: a binary operator, as formatted here."""
        t = self.tokens[i]
        return self.text[t.start - 1].isspace() and self.text[t.end].isspace()

    def top_level(self, begin, end):
        """Indexes of tokens in begin..end that no bracket holds."""
        i = begin
        while i < end:
            yield i
            i = self.match[i] if self.match.get(i, -1) > i else i
            i += 1

    def edit(self, first, last, new, what):
        """Replace tokens first..last; lines stay where they are."""
        start, end = self.tokens[first].start, self.tokens[last].end
        new += "\n" * (self.text[start:end].count("\n") - new.count("\n"))
        self.edits.append(Edit(start, end, new, what))

    # One method for each kind of statement; each returns the index behind it.

    def block(self, i):
        end = self.match[i]
        i += 1
        while i < end:
            i = self.statement(i)
        return end + 1

    def statement(self, i, guarded=False):
        """A statement at i; guarded: it is all that an if has."""
        text = self.text_at(i)
        if self.is_op(i, "{"):
            if guarded:
                self.early_out(i)
            return self.block(i)
        if self.is_op(i, ";"):
            return i + 1
        if text in ("if", "while", "for", "switch"):
            return self.controlled(i)
        if text == "else":
            return self.statement(i + 1)
        if text == "do":
            return self.statement(i + 1)
        if text in ("case", "default") or (
            self.is_name(i) and self.is_op(i + 1, ":")
        ):
            while not self.is_op(i, ":"):
                i += 1
            return i + 1
        if self.is_name(i) and self.is_op(i + 1, "("):
            after = self.match[i + 1] + 1
            if self.is_op(after, "{"):  # for_each_...(...) {
                return self.block(after)
        return self.simple(i, guarded)

    def calls_in(self, begin, end):
        return {
            self.text_at(j)
            for j in range(begin, end)
            if self.is_name(j) and self.is_op(j + 1, "(")
        }

    def is_short_of_memory(self, i, close):
        """Whether the if at i asks only whether memory is short."""
        top = {self.text_at(j) for j in self.top_level(i + 2, close)}
        if top & (ROOM | COPIES):
            return top <= ROOM | COPIES | {"(", "!", "||"}
        # p = malloc(...); if (!p)
        begin = i - 1
        while begin > 0 and self.text_at(begin - 1) not in (";", "{", "}"):
            begin -= 1
        if not self.is_op(i + 2, "!") or close != i + 4:
            return False
        names = [self.text_at(j) for j in self.top_level(begin, i)]
        pointer = self.text_at(i + 3)
        return pointer in names and bool(
            self.calls_in(begin, i) & (ROOM | COPIES)
        )

    def controlled(self, i):
        word, close = self.text_at(i), self.match[i + 1]
        # The negation of a single comparison or `!x` is among the relations.
        if word in ("if", "while") and not self.is_single(i + 2, close):
            condition = self.text[
                self.tokens[i + 1].start : self.tokens[close].end
            ]
            self.edit(i + 1, close, f"(!{condition})", "negate")
        if word == "if" and self.is_lack_of_memory(i + 2, close):
            self.quiet.update(
                j
                for j in self.top_level(i + 2, close)
                if self.is_op(j, "||")
            )
        if word == "for" and self.only_frees(close + 1) and not self.frees:
            self.quiet.update(range(i, close + 1))
        guarded = word == "if" and not self.is_short_of_memory(i, close)
        after = self.statement(close + 1, guarded=guarded)
        if word == "if" and self.text_at(after) == "else":
            after = self.statement(after + 1)
        return after

    def only_frees(self, i):
        """A call that frees is the whole statement."""
        return (
            self.is_name(i)
            and bool(FREES.match(self.text_at(i)))
            and self.is_op(i + 1, "(")
            and self.is_op(self.match[i + 1] + 1, ";")
        )

    def is_lack_of_memory(self, begin, end):
        """`!a || !b` before `return -ENOMEM`: with memory all are there, and
        `&&` is the same."""
        words = ["return", "-", "ENOMEM", ";"]
        if [self.text_at(end + 1 + j) for j in range(4)] != words:
            return False
        top = list(self.top_level(begin, end))
        operands = [begin] + [j + 1 for j in top if self.is_op(j, "||")]
        others = {"&&", "?", "==", "!=", "<", ">", "<=", ">="}
        return all(self.is_op(j, "!") for j in operands) and not any(
            self.text_at(j) in others for j in top
        )

    def is_single(self, begin, end):
        """A condition of one comparison, or of one `!`."""
        top = list(self.top_level(begin, end))
        if any(self.text_at(j) in ("&&", "||", "?") for j in top):
            return False
        compared = any(
            self.text_at(j) in ("<", "<=", ">", ">=", "==", "!=") for j in top
        )
        return compared or self.is_op(begin, "!")

    def simple(self, i, guarded):
        end = i
        for end in self.top_level(i, len(self.tokens)):
            if self.is_op(end, ";") or self.is_op(end, "}"):
                break
        word = self.text_at(i)
        if word in ("break", "continue"):
            self.edit(i, end, ";", f"drop {word}")
        elif word in ("return", "goto"):
            self.leave(i, end, guarded)
        elif word in ASSERTS | LOGS | HINTS:
            self.quiet.update(range(i, end + 1))
        elif word == "fprintf" and self.text_at(i + 2) == "stderr":
            self.quiet.update(range(i, end + 1))
        elif self.is_declaration(i, end):
            self.declaration(i, end)
        else:
            self.expression(i, end)
        return end + 1

    def early_out(self, i):
        """The last statement of an if's block, if it leaves the function."""
        end = self.match[i]
        last, j = None, i + 1
        edits, quiet = list(self.edits), set(self.quiet)
        while j < end:
            last, j = j, self.statement(j)
        self.edits, self.quiet = edits, quiet
        if last is not None and self.text_at(last) in ("return", "goto"):
            self.drop_leaving(last, j - 1)

    def drop_leaving(self, i, end):
        # No test runs out of memory.
        if self.text_at(end - 1) != "ENOMEM":
            self.edit(i, end, ";", f"drop {self.text_at(i)}")

    def leave(self, i, end, guarded):
        if guarded:
            self.drop_leaving(i, end)
        value = self.text_at(i + 1)
        if self.text_at(i) == "return" and end == i + 2 and self.is_name(i + 1):
            if not value.isupper() and value not in ("true", "false"):
                self.edit(i + 1, i + 1, "0", "return 0")

    def is_declaration(self, i, end):
        if self.text_at(i) in TYPE_WORDS:
            return True
        if not self.is_name(i) or i + 1 >= end:
            return False
        if self.is_name(i + 1):
            return True
        j = i + 1
        while self.is_op(j, "*"):
            j += 1
        return j > i + 1 and self.is_name(j) and not self.spaced(j - 1)

    def declaration(self, i, end):
        words = {self.text_at(j) for j in self.top_level(i, end)}
        if "static" in words:
            self.quiet.update(range(i, end + 1))
            return
        # Lengths of arrays.
        initializer = False
        for j in self.top_level(i, end):
            if self.is_op(j, "="):
                initializer = True
            elif self.is_op(j, "{") and not initializer:
                self.quiet.update(range(j, self.match[j] + 1))  # a struct's
            elif self.is_op(j, ","):
                initializer = False
            elif self.is_op(j, "[") and not initializer:
                self.quiet.update(range(j, self.match[j] + 1))

    def expression(self, i, end):
        top = [self.text_at(j) for j in self.top_level(i, end)]
        is_call = self.is_op(end - 1, ")") and self.is_name(i)
        if not is_call and not ASSIGNMENTS.intersection(top):
            if "++" not in top and "--" not in top:
                return
        if is_call and not ASSIGNMENTS.intersection(top):
            if FREES.match(self.text_at(i)) and not self.frees:
                return
            self.edit(i, end, ";", "drop call")
        else:
            self.edit(i, end, ";", "drop assignment")

    # Operators and constants

    def operators(self, begin, end):
        i = begin
        while i < end:
            if self.is_op(i + 1, "(") and (
                self.text_at(i) in ("sizeof", "offsetof", "_Alignof")
                or self.text_at(i) in self.unseen
            ):
                i = self.match[i + 1] + 1
                continue
            if i not in self.quiet:
                for new, what in self.replacements(i):
                    self.edit(i, i, new, what)
            i += 1

    def replacements(self, i):
        t = self.tokens[i]
        if t.kind == "number":
            return self.numbers(i)
        if t.text in ("true", "false"):
            return [("false" if t.text == "true" else "true", "boolean")]
        if t.kind != "op":
            return []
        if t.text in RELATIONS:
            news = RELATIONS[t.text]
            if t.text == ">=" and self.is_length_of_line(i):
                news = ["<"]
            if self.is_sign_of_descriptor(i):
                news = news[1:]
            return [(new, "relation") for new in news]
        if self.text_at(i + 1).endswith("_CLOEXEC"):
            return []  # for a program that starts at the same time
        if t.text in BINARY and self.spaced(i):
            return [(new, "operator") for new in BINARY[t.text]]
        if t.text in ("++", "--"):
            return [("--" if t.text == "++" else "++", "step")]
        if t.text == "!" and "!" not in (
            self.text_at(i - 1),
            self.text_at(i + 1),
        ):
            return [("", "drop !")]
        if t.text in "-~" and self.text_at(i + 1) == "ENOMEM":
            return []  # no test runs out of memory
        if t.text in "-~" and not self.text[t.end].isspace():
            return [("", f"drop {t.text}")]
        return []

    def is_length_of_line(self, i):
        """getline(...) before i, which never returns 0."""
        begin = self.match.get(i - 1, 0)
        return self.is_op(i - 1, ")") and self.text_at(begin - 1) == "getline"

    def is_sign_of_descriptor(self, i):
        """`fd < 0` or `fd >= 0`: 0 is the standard input, and never a file
        that was opened."""
        return (
            self.text_at(i) in ("<", ">=")
            and self.text_at(i - 1).endswith("fd")
            and self.text_at(i + 1) == "0"
        )

    def numbers(self, i):
        text = self.text_at(i)
        # Of a copied descriptor any number is as good.
        if self.text_at(i - 2) == "F_DUPFD_CLOEXEC":
            return []
        if self.is_sign_of_descriptor(i - 1):
            return []
        # -1 for none: any other negative number is as good.
        if text == "1" and self.is_op(i - 1, "-"):
            if self.text_at(i - 2) in ("=", "return"):
                return [("0", "constant")]
        if self.is_op(i - 1, "{") and self.is_op(i + 1, "}"):
            return []  # { 0 }
        if self.text_at(i - 1) in ASSIGNMENTS and self.text_at(i - 2) == "room":
            return []
        m = re.fullmatch(r"(0[xX][0-9a-fA-F]+|\d+)([uUlL]*)", text)
        if not m:
            return []
        digits, suffix = m.groups()
        if digits[:2] in ("0x", "0X"):
            return [(f"{int(digits, 16) + 1:#x}{suffix}", "constant")]
        if len(digits) > 1 and digits[0] == "0":
            return [(f"0{int(digits, 8) + 1:o}{suffix}", "constant")]
        value = int(digits)
        values = [0, 2] if value == 1 else [value + 1]
        return [(f"{v}{suffix}", "constant") for v in values]


class Mutant:
    """One change of one file, and what became of it."""

    def __init__(self, source, edit):
        self.source, self.edit = source, edit
        self.line = source.line_of(edit.start)
        self.last_line = source.line_of(edit.end)
        self.obj = None
        self.result = None
        self.killer = None  # the test that failed, and how
        self.tests = []  # those that ran
        self.unrun = 0  # how many cover it and did not
        self.seconds = 0

    def text(self):
        text = self.source.text
        return text[: self.edit.start] + self.edit.new + text[self.edit.end :]

    def where(self):
        return f"{self.source.name}:{self.line}"

    def change(self):
        """Lines before and after."""
        first = self.source.lines[self.line - 1]
        last = self.source.text.find("\n", self.edit.end)
        last = len(self.source.text) if last < 0 else last
        before = self.source.text[first:last]
        after = (
            self.source.text[first : self.edit.start]
            + self.edit.new
            + self.source.text[self.edit.end : last]
        )

        def lines(text):
            return [s for s in text.split("\n") if s.strip()]

        return lines(before), lines(after)
