<?php

declare(strict_types=1);

namespace App\Shapes;

use App\Base\{Shape, HasArea};
use function App\helper;

const UNIT = 1;

/**
 * A circle: 形.
 */
#[Entity]
final class Circle extends Shape implements HasArea
{
    use Grows;

    public const MAX = 3;

    public function __construct(private float $radius)
    {
    }

    /** In m². */
    #[Pure]
    public function area(): float
    {
        $inner = fn ($x) => $x * $x;
        return $inner($this->radius);
    }

    public static function unit(): static
    {
        return new static(1);
    }
}

interface Sized
{
    public function size(): int;
}

trait Grows
{
    abstract public function grow(): void;
}

enum Colour: string
{
    case Red = 'rot';
    case Green = 'grün';

    public function code(): string
    {
        return $this->value;
    }
}

function total(array $shapes): float
{
    return 0.0;
}

if (! function_exists('helper')) {
    function helper(): void
    {
    }
}

return new class {
    public function up(): void
    {
    }
};
