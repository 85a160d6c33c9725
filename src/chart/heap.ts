/** What costs least comes first; of equals, what was put in first, so that the same chart is always drawn the same. */
export class Heap<T> {
  readonly #items: { cost: number; order: number; value: T }[] = []
  #order = 0

  push(cost: number, value: T): void {
    const items = this.#items
    items.push({ cost, order: this.#order++, value })
    let at = items.length - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!this.#before(at, parent)) return
      this.#swap(at, parent)
      at = parent
    }
  }

  pop(): T | undefined {
    const [first] = this.#items
    const last = this.#items.pop()
    if (first === undefined || last === undefined || this.#items.length === 0) return first?.value
    this.#items[0] = last
    let at = 0
    for (;;) {
      let least = at
      for (const child of [2 * at + 1, 2 * at + 2]) if (this.#before(child, least)) least = child
      if (least === at) return first.value
      this.#swap(at, least)
      at = least
    }
  }

  #before(a: number, b: number): boolean {
    const [one, other] = [this.#items[a], this.#items[b]]
    if (one === undefined || other === undefined) return false
    return one.cost < other.cost || (one.cost === other.cost && one.order < other.order)
  }

  #swap(a: number, b: number): void {
    const [one, other] = [this.#items[a], this.#items[b]]
    if (one === undefined || other === undefined) return
    this.#items[a] = other
    this.#items[b] = one
  }
}
