//! Shapes: 形.
const std = @import("std");
const Allocator = std.mem.Allocator;

/// A circle.
pub const Circle = struct {
    radius: f64,

    const unit = 1;

    /// In m².
    pub fn area(self: Circle) f64 {
        return self.radius;
    }

    const Inner = struct {
        fn deep() void {}
    };
};

const Colour = enum(u8) { red, green };

pub const Value = union(enum) {
    int: i64,

    fn get(self: Value) i64 {
        return self.int;
    }
};

const Failure = error{ Bad, Worse };

pub fn List(comptime T: type) type {
    return struct {
        items: []T,

        pub fn append(self: *@This(), item: T) void {
            _ = self;
            _ = item;
        }
    };
}

extern fn c_area(radius: f64) f64;

var count: i32 = 0;

test "area of a ö" {
    try std.testing.expect(true);
}
