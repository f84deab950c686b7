/* Shapes: 形. */
#ifndef SHAPES_H
#define SHAPES_H

#include <stdio.h>
#include "shape.h"

#define UNIT 1
#define SQUARE(x) \
    ((x) * (x))

struct node;

/* A point. */
struct point {
    int x;
    struct { int a; } inner;
};

typedef struct circle {
    struct point centre;
    double radius;
} Circle;

typedef int (*callback)(void *data, int n);

enum colour { RED, GREEN };

union value {
    int i;
    double d;
};

static struct option {
    const char *name;
} options[] = {
    { "grün" },
};

int count = 0;

double area(const Circle *circle);

// Its area.
static inline double
area(const Circle *circle)
{
    return SQUARE(circle->radius);
}

const char **names(void) { return NULL; }

int (*chosen(int n))(void *, int)
{
    return 0;
}

#ifdef FAST
int fast(void) { return 1; }
#else
int fast(void) { return 0; }
#endif

#endif
