BEGIN {
	srand(1)
	print "#include <stdio.h>\n#include <string.h>\nstruct node { struct node *next; long key; char name[16]; };"
	for (i = 0; i < nr; i++) {
		printf "static long f%d(struct node *p, long a, long b)\n{\n\tlong s = a * %d;\n", i, i * 7 + 3
		printf "\tfor (long i = 0; i < b; i++) {\n\t\tswitch ((i + a) %% %d) {\n", i % 5 + 3
		for (k = 0; k < i % 5 + 3; k++)
			printf "\t\tcase %d: s += (a ^ i) * %d + (b >> %d); break;\n", k, k * i + 1, k + 1
		printf "\t\t}\n\t\tif (s & %d)\n\t\t\ts -= strlen(p->name);\n\t\telse if (p->next)\n\t\t\tp = p->next;\n\t}\n", i + 1
		printf "\treturn s + (p ? p->key : %d)%s;\n}\n", i, i ? sprintf(" + (b > 3 ? f%d(p, b, a - 1) : 0)", i - 1) : ""
	}
	printf "long all(struct node *p) { return 0"
	for (i = 0; i < nr; i += 3)
		printf "\n\t+ f%d(p, %d, p->key)", i, i
	print "; }"
}
