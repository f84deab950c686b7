package org.example.shapes;

import java.util.List;
import static java.lang.Math.PI;

/**
 * A shape: 形.
 */
@Deprecated
public abstract class Shape<T extends Number> implements Comparable<Shape<T>> {
    private static final int UNIT = 1;
    private T size;

    static {
        System.out.println("ö");
    }

    protected Shape(T size) {
        this.size = size;
    }

    /** In m². */
    public abstract double area();

    @Override
    @SuppressWarnings("unchecked")
    public int compareTo(Shape<T> other) {
        Runnable run = () -> { };
        class Local { void no() { } }
        return 0;
    }

    private int count = 0;

    public static class Circle extends Shape<Double> {
        Circle(double radius) {
            super(radius);
        }

        public double area() {
            return PI;
        }
    }

    enum Colour {
        RED {
            @Override
            String code() {
                return "r";
            }
        },
        GREEN;

        String code() {
            return "g";
        }
    }

    record Point(int x, int y) {
        Point {
            assert x > 0;
        }

        static Point origin() {
            return new Point(0, 0);
        }
    }
}

interface Sized {
    int size();

    default boolean isEmpty() {
        return size() == 0;
    }
}

@interface Marked {
    String value() default "";
}
