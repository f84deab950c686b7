defmodule Shapes.Circle do
  @moduledoc """
  A circle: 形.
  """
  use GenServer
  alias Shapes.{Point, Square}

  @unit 1

  defstruct radius: @unit

  @doc "In m²."
  @spec area(t) :: float
  def area(%__MODULE__{radius: r}), do: 3.14 * r * r
  def area(nil), do: 0

  def area(circle, factor) when is_number(factor) do
    inner = fn x -> x end
    inner.(circle) * factor
  end

  # Not for all.
  defp helper, do: :ok

  defmacro square(x) do
    quote do
      unquote(x) * unquote(x)
    end
  end

  defguard is_round(x) when x == 1

  defdelegate grow(circle), to: Shapes

  def left <~> right, do: {left, right}

  if Mix.env() == :test do
    def only_in_tests, do: "ö"
  end

  defmodule Inner do
    def deep(x \\ 1), do: x
  end
end

defprotocol Shape do
  @doc "Another."
  def scaled(shape, by)
end

defimpl Shape, for: Shapes.Circle do
  def scaled(circle, _by), do: circle
end
