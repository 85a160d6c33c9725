/** Boxes on a grid: what a chart is laid out with. */
import type { ChartState } from './chart.ts'

/** The grid, in pixels at natural size: two arrows side by side can still be told apart. */
export const UNIT = 8
/** A parent's name above its children. */
export const TITLE = 3 * UNIT

export interface Point {
  x: number
  y: number
}

export interface Box extends ChartState {
  x: number
  y: number
  width: number
  height: number
  /** Others stand inside of it. */
  compound: boolean
}
