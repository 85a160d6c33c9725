/** The machines as the build found them. */
import type { Chart } from '../chart/chart.ts'

declare const __CHARTS__: string

export const CHARTS: Readonly<Record<'session' | 'supervisor', Chart>> = JSON.parse(__CHARTS__)
