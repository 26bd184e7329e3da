# SPDX-License-Identifier: GPL-2.0-or-later
"""Circles in a graph, for the checks that look for them."""

import sys


def circles(graph):
    """Of {node: nodes that it uses}: the sets whose nodes all lead to one
    another, each sorted, the largest first; single nodes, too (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph.get(node, ()):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            found.append(sorted(stack[at:]))
            del stack[at:]

    sys.setrecursionlimit(10000)
    for node in list(graph):
        if node not in index:
            visit(node)
    return sorted(found, key=len, reverse=True)
