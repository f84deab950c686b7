import type { Reader } from 'stream'
import fs = require('fs')

/** A shape: 形. */
export interface Shape<T = number> extends Reader {
  readonly name: string
  area(): T
  scaled(by: number): Shape<T>
}

export type Table<K extends string> = Record<K, Shape>

export const enum Colour {
  Red = 'rot',
  Green = 'grün',
}

@Component({ selector: 'circle' })
export abstract class Circle<T> implements Shape<T> {
  constructor(private readonly radius: T) {}

  abstract corners(): number

  @Input() name = 'ö'

  @Log
  @Cached(10)
  area(): T {
    return this.radius
  }

  scaled(by: number): Circle<T>
  scaled(by: string): Circle<T>
  scaled(by: unknown): Circle<T> {
    return this
  }

  onClick = (event: Event): void => {
    console.log(event)
  }

  protected static async make<U>(value: U): Promise<U> {
    return value
  }
}

export function parse(text: string): Shape
export function parse(text: number): Shape
// Any of the two.
export function parse(text: unknown): Shape {
  return text as Shape
}

namespace Outer.Inner {
  export function deep(): void {
    return
  }

  namespace Most {
    export class Buried {}
  }
}

declare module 'legacy' {
  export function old(a: number): void
}

declare function ambient(a: number): void

export const compare = async <T,>(a: T, b: T): Promise<boolean> => a === b

const handlers = {
  open<T>(value: T) {
    return value
  },
  close: () => undefined,
} satisfies Record<string, unknown>

export const limit: number = 3
