package org.example
package shapes

import scala.math.{Pi, sqrt}
import java.util.*

/** A shape: 形. */
sealed trait Shape[A] extends Product {
  type Unit

  def area: Double

  def scaled(by: Double): Shape[A]
}

@deprecated("ö")
case class Circle(radius: Double) extends Shape[Int] {
  val cached = 1

  override def area: Double = Pi * radius * radius

  def this(text: String) = this(text.toDouble)

  // Both.
  def +(other: Circle): Circle = {
    def inner = 1
    other
  }

  class Inner {
    def deep = 1
  }
}

object Circle {
  def unit: Circle = Circle(1)
}

enum Colour(val rgb: Int) {
  case Red extends Colour(1)

  def mix: Colour = this
}

type Table[K] = Map[K, List[K]]

given ordering: Ordering[Circle] with {
  def compare(a: Circle, b: Circle) = 0
}

extension (circle: Circle)
  def grown: Circle = circle

package object util {
  def helper = 1
}

def total(areas: List[Double]): Double =
  areas.sum
