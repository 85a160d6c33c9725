/**
 * Positions of the states and arrows of a chart, computed with ELK. Runs when the page is built and in tests: the page
 * gets the finished layout, and ELK (1.5 MB) never reaches a browser.
 */
import ELK, { type ElkExtendedEdge, type ElkNode } from 'elkjs/lib/elk.bundled.js'
import type { Chart, ChartEdge, ChartState } from './chart.ts'

/** In px at natural size, from the top left corner of the chart. */
export interface ChartPoint {
  x: number
  y: number
}

export interface StateBox extends ChartState, ChartPoint {
  width: number
  height: number
  /** It contains other states. */
  compound: boolean
}

/** All transitions from one state to another, drawn as one arrow. */
export interface ChartRoute {
  from: string
  to: string
  edges: readonly ChartEdge[]
  /** Corners of the arrow, from the border of one box to the border of the other. */
  points: readonly ChartPoint[]
}

export interface ChartLayout {
  width: number
  height: number
  /** Parents before their children. */
  boxes: readonly StateBox[]
  routes: readonly ChartRoute[]
}

/** Width of one character of a state's name at natural size, in px. */
const CHARACTER_PX = 7.4
const NAME_PADDING_PX = 16
const MIN_WIDTH_PX = 48
const LEAF_HEIGHT_PX = 32
/** A state with more arrows than this is taller, so that its arrows run straight. */
const MAX_LEAF_ARROWS = 4
const ARROW_GAP_PX = 27

const CHART_OPTIONS = {
  'elk.algorithm': 'layered',
  'elk.direction': 'RIGHT',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.json.edgeCoords': 'ROOT',
  'elk.json.shapeCoords': 'ROOT',
  // States keep the order of their definition where the arrows allow it.
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.layered.nodePlacement.favorStraightEdges': 'true',
  'elk.layered.crossingMinimization.forceNodeModelOrder': 'true',
  'elk.padding': '[top=8,left=8,bottom=8,right=8]',
  'elk.spacing.nodeNode': '16',
  'elk.spacing.edgeNode': '12',
  'elk.spacing.edgeEdge': '10',
  'elk.layered.spacing.nodeNodeBetweenLayers': '28',
  'elk.layered.spacing.edgeNodeBetweenLayers': '12',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '10',
}
/** The name of a compound state is above its children. */
const COMPOUND_OPTIONS = { ...CHART_OPTIONS, 'elk.padding': '[top=26,left=16,bottom=12,right=16]' }

export async function layoutChart(chart: Chart): Promise<ChartLayout> {
  const routes = routesOf(chart)
  const graph = await new ELK.default().layout<ElkNode>({
    id: '',
    layoutOptions: CHART_OPTIONS,
    children: nodesIn(chart, null, routes),
    edges: routes.map(({ from, to }): ElkExtendedEdge => {
      const [source, target] = isBackward(chart, { from, to }) ? [to, from] : [from, to]
      return { id: routeId({ from, to }), sources: [source], targets: [target] }
    }),
  })
  const nodes = new Map(descendants(graph).map((node) => [node.id, node]))
  const edges = new Map((graph.edges ?? []).map((edge) => [edge.id, edge]))
  const boxes = chart.states.map((state): StateBox => {
    const { x = 0, y = 0, width = 0, height = 0, children = [] } = nodes.get(state.id) ?? {}
    return { ...state, x, y, width, height, compound: children.length > 0 }
  })
  const leaves = boxes.filter(({ compound }) => !compound)
  const pointsOf = (route: Pick<ChartRoute, 'from' | 'to'>): ChartPoint[] => {
    const [section] = edges.get(routeId(route))?.sections ?? []
    if (section === undefined) return []
    const { startPoint, bendPoints = [], endPoint } = section
    const points = [startPoint, ...bendPoints, endPoint].map(({ x, y }) => ({ x, y }))
    if (route.from === route.to) return points
    return isBackward(chart, route)
      ? straightened(points, route.to, leaves).reverse()
      : straightened(points, route.from, leaves)
  }
  return {
    width: graph.width ?? 0,
    height: graph.height ?? 0,
    boxes,
    routes: routes.map((route) => ({ ...route, points: pointsOf(route) })),
  }
}

/** All transitions between the same two states are one arrow. In order of definition. */
function routesOf(chart: Chart): Omit<ChartRoute, 'points'>[] {
  const routes = new Map<string, { from: string; to: string; edges: ChartEdge[] }>()
  for (const edge of chart.edges) {
    const route = routes.get(routeId(edge)) ?? { from: edge.from, to: edge.to, edges: [] }
    route.edges.push(edge)
    routes.set(routeId(edge), route)
  }
  return [...routes.values()]
}

function nodesIn(chart: Chart, parent: string | null, routes: readonly { from: string; to: string }[]): ElkNode[] {
  return chart.states
    .filter((state) => state.parent === parent)
    .map(({ id, name }): ElkNode => {
      const width = Math.max(MIN_WIDTH_PX, Math.ceil(name.length * CHARACTER_PX) + NAME_PADDING_PX)
      const children = nodesIn(chart, id, routes)
      if (children.length > 0) return { id, children, layoutOptions: COMPOUND_OPTIONS }
      const arrows = routes.filter(({ from, to }) => from === id || to === id).length
      return { id, width, height: arrows > MAX_LEAF_ARROWS ? arrows * ARROW_GAP_PX : LEAF_HEIGHT_PX }
    })
}

const routeId = ({ from, to }: Pick<ChartRoute, 'from' | 'to'>) => `${from}>${to}`

/**
 * ELK spreads arrows evenly along the side of a state. An arrow that begins with a step starts at the height it runs to
 * instead, where the side is long enough and no other state is in between.
 */
function straightened(points: ChartPoint[], source: string, leaves: readonly StateBox[]): ChartPoint[] {
  const [start, corner, next, after] = points
  if (start === undefined || corner === undefined || next === undefined || after === undefined) return points
  const atHeight = leaves.filter(({ y, height }) => next.y > y && next.y < y + height)
  const isFree = atHeight.every(({ id, x, width }) => id === source || x >= corner.x || x + width <= start.x)
  const isStep = start.y === corner.y && corner.x === next.x && next.y === after.y
  return isStep && isFree && atHeight.some(({ id }) => id === source)
    ? [{ x: start.x, y: next.y }, ...points.slice(3)]
    : points
}

/** ELK lays out from left to right along arrows: arrows back to an earlier state are given to it the other way round. */
function isBackward({ states }: Chart, { from, to }: Pick<ChartRoute, 'from' | 'to'>): boolean {
  return states.findIndex(({ id }) => id === to) < states.findIndex(({ id }) => id === from)
}

function descendants({ children = [] }: ElkNode): ElkNode[] {
  return children.flatMap((child) => [child, ...descendants(child)])
}
