'use strict'

import base, { helper as h } from './base.js'
const fs = require('fs')

/** A shape, in Zürich: 形. */
export default class Shape extends base.Shape {
  #count = 0
  static unit = () => 1

  // Bound to the instance.
  handle = async (event) => {
    this.#count += event.detail
  }

  constructor(name) {
    super(name)
  }

  get area() {
    return 1
  }

  async *corners() {
    yield 1
  }

  static { Shape.ready = true }
}

// Adds.
export const add = (a, b) => {
  const inner = () => a
  return inner() + b
}

export function* count() {
  yield 1
}

const Circle = class Named extends Shape {
  grow() {
    return 2
  }
}

const colours = ['red', 'grün']

const api = {
  base: '/v1',
  get(path) {
    return fetch(path)
  },
  post: async (path) => fetch(path),
}

module.exports = {
  one() {
    return 1
  },
  two: function () {
    return 2
  },
  limit: 3,
}

exports.three = function () {
  return 3
}

Shape.prototype.four = function four() {
  return 4
}

;(function () {
  function five() {
    return 5
  }
  five()
})()

describe('shapes', () => {
  function build() {
    return new Circle()
  }

  it('grows', () => {
    build().grow()
  })
})

const Badge = React.memo(({ n }) => <b className="x">{n}</b>)
