package org.example.shapes

import kotlin.math.PI
import java.util.Date as Day

/** A shape: 形. */
@Serializable
interface Shape {
    val area: Double

    fun scaled(by: Double): Shape
}

data class Circle(val radius: Double) : Shape {
    private val cache = mutableMapOf<String, Int>()

    override val area: Double
        get() = PI * radius * radius

    constructor(text: String) : this(text.toDouble())

    init {
        require(radius > 0)
    }

    // Not in place.
    @Deprecated("ö")
    override fun scaled(by: Double): Shape = Circle(radius * by)

    companion object {
        const val UNIT = 1.0

        fun unit(): Circle = Circle(UNIT)
    }

    object Named {
        fun deep() = 1
    }

    inner class Ring(val width: Int)
}

enum class Colour {
    RED,
    GREEN;

    fun mix(other: Colour): Colour = this
}

sealed class Result<out T>

typealias Table<K> = Map<K, List<Shape>>

val answer = 42

fun <T : Shape> List<T>.total(): Double {
    fun inner() = 1.0
    return sumOf { it.area } + inner()
}

suspend fun load() = coroutineScope {
    answer
}

object Registry {
    val all = listOf(1)
}
