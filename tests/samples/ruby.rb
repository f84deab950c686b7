# frozen_string_literal: true

require 'set'
require_relative 'base'

# Shapes: 形.
module Shapes
  UNIT = 1

  # A circle.
  class Circle < Base::Shape
    include Comparable
    attr_reader :radius

    def initialize(radius) = @radius = radius

    # In m².
    def area
      inner = ->(x) { x * x }
      inner.call(radius)
    end

    def self.unit
      new(1)
    end

    class << self
      def parse(text)
        new(text.to_f)
      end
    end

    # Not for all.
    private def secret
      'ö'
    end

    def ==(other)
      true
    end

    def empty? = false

    def radius=(value)
      @radius = value
    end

    define_method(:dynamic) { |x| x }

    class Inner; end
  end

  class Nested::Deep
    def dig; end
  end

  Point = Struct.new(:x, :y) do
    def norm
      x + y
    end
  end

  class Error < StandardError; end

  included do
    def hooked
      1
    end
  end
end

def top_level(argument)
  argument
end

if RUBY_VERSION > '3'
  def recent
    true
  end
end

RSpec.describe Shapes do
  it 'grows' do
    expect(1).to eq 1
  end
end
