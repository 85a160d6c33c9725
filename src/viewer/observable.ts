/** A value that components and other modules can subscribe to. */
import { useEffect, useReducer } from 'preact/hooks'

export class Observable<T> {
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

  /** Returns the function that unsubscribes. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

/** The current value; the component is rendered again when it changes. */
export function useObservable<T>(observable: Observable<T>): T {
  const [, render] = useReducer<number, void>((n) => n + 1, 0)
  const rendered = observable.value
  useEffect(() => {
    // The value may have changed between the rendering and this effect.
    if (!Object.is(observable.value, rendered)) render()
    return observable.subscribe(() => render())
  }, [observable])
  return rendered
}
