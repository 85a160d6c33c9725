/** A value that can be watched. */
import { useEffect, useReducer } from 'preact/hooks'

export class Cell<T> {
  #value: T
  readonly #listeners = new Set<() => void>()

  constructor(value: T) {
    this.#value = value
  }

  get value(): T {
    return this.#value
  }

  set(value: T): void {
    if (Object.is(value, this.#value)) return
    this.#value = value
    for (const listener of [...this.#listeners]) listener()
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

/** The cell's value; the component is drawn again when it changes. */
export function useCell<T>(cell: Cell<T>): T {
  const [, draw] = useReducer<number, void>((n) => n + 1, 0)
  const drawn = cell.value
  useEffect(() => {
    // It may have changed between the drawing and now.
    if (!Object.is(cell.value, drawn)) draw()
    return cell.subscribe(() => draw())
  }, [cell])
  return drawn
}
