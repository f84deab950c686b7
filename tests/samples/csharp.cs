using System;
using static System.Math;

namespace Example.Shapes
{
    /// <summary>A circle: 形.</summary>
    [Serializable]
    public class Circle<T> : Shape where T : struct
    {
        private const int Unit = 1;
        private T radius;

        public T Radius { get; set; }

        public double Area
        {
            get { return PI; }
        }

        public double Half => Area / 2;

        public Circle(T radius) : base(1)
        {
            this.radius = radius;
        }

        ~Circle()
        {
        }

        [Obsolete("ö")]
        public override string ToString()
        {
            int Local() => 1;
            return Local().ToString();
        }

        public static bool operator ==(Circle<T> a, Circle<T> b) => true;

        public static implicit operator int(Circle<T> circle) => 1;

        public int this[int index]
        {
            get { return index; }
        }

        void IShape.Scale() { }

#if NET
        internal void Conditional()
        {
        }
#endif

        private class Inner
        {
            void Deep() { }
        }
    }

    public interface IShape
    {
        int Corners { get; }
        void Scale();
    }

    public struct Point
    {
        public int X;
    }

    public record Person(string Name, int Age);

    public enum Colour
    {
        Red,
    }

    public delegate void Changed(object sender);

    namespace Deeper
    {
        static class Buried { }
    }
}
