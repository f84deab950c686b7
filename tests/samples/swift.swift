import Foundation

/// A shape: 形.
public protocol Shape {
    var area: Double { get }
    func scaled(by factor: Double) -> Self
}

@available(iOS 13, *)
public struct Circle<T: Numeric>: Shape {
    let radius: Double

    /// In m².
    public var area: Double {
        .pi * radius * radius
    }

    init(radius: Double) {
        self.radius = radius
    }

    subscript(index: Int) -> Double {
        radius
    }

    struct Centre {
        func deep() {}
    }

    static func == (a: Self, b: Self) -> Bool {
        true
    }

    public func scaled(by factor: Double) -> Self {
        func inner() {}
        return self
    }
}

extension Circle: CustomStringConvertible where T == Int {
    var description: String {
        "ö"
    }

    func describe() -> String {
        description
    }
}

enum Colour: String {
    case red, green

    func mix() -> Colour {
        self
    }
}

actor Store {
    func load() async throws {}
}

final class Box {
    deinit {
        print("gone")
    }
}

typealias Table = [String: Int]

func total(_ shapes: [any Shape]) -> Double {
    0
}

let answer = 42
